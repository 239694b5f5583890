// View operators that are other view operators in sequence.
#include <algorithm>

#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/views.h"
#include "ops/view_geometry.h"

namespace rl {

Dims inverse_permutation(IntRef dims) {
  Dims out(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    out[size_t(wrap_dim(dims[i], int64_t(dims.size())))] = int64_t(i);
  return out;
}

namespace composite {

Tensor reshape(const Tensor& self, IntRef shape) {
  const Dims sizes = infer_size(shape, self.numel());
  Dims strides;
  if (view_strides(self.sizes(), self.strides(), self.numel(), sizes, strides))
    return rl::view(self, sizes);
  return rl::_unsafe_view(rl::clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor view_as(const Tensor& self, const Tensor& other) { return rl::view(self, other.sizes()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) {
  return rl::reshape(self, other.sizes());
}
Tensor expand_as(const Tensor& self, const Tensor& other) {
  return rl::expand(self, other.sizes(), false);
}
Tensor broadcast_to(const Tensor& self, IntRef size) { return rl::expand(self, size, false); }

Tensor adjoint(const Tensor& self) {
  check(self.dim() != 1,
        "tensor.adjoint() is only supported on matrices or batches of matrices. Got "
        "1-D tensor.");
  Tensor t = self.dim() == 0 ? self : rl::transpose(self, -2, -1);
  return t.is_complex() ? rl::conj(t) : t;
}

Tensor movedim_list(const Tensor& self, IntRef source, IntRef destination) {
  check(source.size() == destination.size(),
        "movedim: Invalid source or destination dims: source (", source,
        " dims) should contain the same number of dims as destination (", destination, " dims)");
  const size_t n = size_t(self.dim());
  SmallVec<int64_t, 8> order(n, -1), used(n, 0);
  for (size_t i = 0; i < source.size(); ++i) {
    const size_t from = size_t(wrap_dim(source[i], self.dim()));
    const size_t to = size_t(wrap_dim(destination[i], self.dim()));
    check(!used[from], "movedim: repeated dim in `source` (", source, ")");
    check(order[to] < 0, "movedim: repeated dim in `destination` (", destination, ")");
    used[from] = 1;
    order[to] = int64_t(from);
  }
  size_t next = 0;
  for (size_t i = 0; i < n; ++i) {
    if (order[i] >= 0) continue;
    while (used[next]) ++next;
    order[i] = int64_t(next++);
  }
  return rl::permute(self, IntRef(order.data(), n));
}

Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  return movedim_list(self, {source}, {destination});
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  check(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  check(length >= 0, "narrow(): length must be non-negative.");
  const int64_t n = self.size(dim);
  check_index(-n <= start && start <= n, "start out of range (expected to be in range of [", -n,
              ", ", n, "], but got ", start, ")");
  if (start < 0) start += n;
  check(start + length <= n, "start (", start, ") + length (", length, ") exceeds dimension size (",
        n, ").");
  return rl::slice(self, dim, start, start + length, 1);
}

Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  check(start.dim() == 0 && is_integral(start.dtype()), "start must be an 0-dim integral Tensor.");
  const int64_t n = self.size(dim);
  int64_t at = item(start).to_int();
  return composite::narrow(self, dim, at < 0 ? at + n : at, length);
}

std::vector<Tensor> split_sizes(const Tensor& self, IntRef sizes, int64_t dim) {
  return rl::split_with_sizes(self, sizes, dim);
}
std::vector<Tensor> unsafe_split(const Tensor& self, int64_t size, int64_t dim) {
  return rl::split(self, size, dim);
}
std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntRef sizes, int64_t dim) {
  return rl::split_with_sizes(self, sizes, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  check(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  check(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t n = self.size(dim);
  const int64_t size = (n + chunks - 1) / chunks;
  if (size == 0) {  // an empty dimension still gives the number of chunks asked for
    std::vector<int64_t> sizes(size_t(chunks), 0);
    return rl::split_with_sizes(self, sizes, dim);
  }
  return rl::split(self, size, dim);
}

std::vector<Tensor> tensor_split_indices(const Tensor& self, IntRef indices, int64_t dim) {
  check(self.dim() > 0,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", self.dim(),
        " dims");
  std::vector<Tensor> out;
  int64_t from = 0;
  for (int64_t to : indices) {
    out.push_back(rl::slice(self, dim, from, to, 1));
    from = to;
  }
  out.push_back(rl::slice(self, dim, from, self.size(dim), 1));
  return out;
}

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  check(self.dim() > 0,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", self.dim(),
        " dims");
  check(sections > 0, "number of sections must be larger than 0, got ", sections);
  const int64_t n = self.size(dim), small = n / sections, larger = n % sections;
  std::vector<Tensor> out;
  int64_t from = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t to = from + small + (i < larger);
    out.push_back(rl::slice(self, dim, from, to, 1));
    from = to;
  }
  return out;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& where, int64_t dim) {
  check(where.dtype() == DType::Int64,
        "tensor_split expected tensor_indices_or_sections to have dtype "
        "of long, but got ",
        where.dtype());
  check(where.dim() <= 1,
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional "
        "or one-dimensional tensor, but got a tensor with ",
        where.dim(), " dims");
  if (where.dim() == 0) return tensor_split_sections(self, item(where).to_int(), dim);
  Dims at;
  for (const Tensor& t : rl::unbind(where, 0)) at.push_back(item(t).to_int());
  return tensor_split_indices(self, at, dim);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t a = wrap_dim(start_dim, self.dim()), b = wrap_dim(end_dim, self.dim());
  check(a <= b, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return rl::reshape(self, {1});
  if (a == b) return self;
  Dims sizes;
  int64_t merged = 1;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i < a || i > b) sizes.push_back(self.size(i));
    else merged *= self.size(i);
    if (i == b) sizes.push_back(merged);
  }
  return rl::reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntRef sizes) {
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  check(!sizes.empty(), "unflatten: sizes must be non-empty");
  check_index(self.dim() > 0, "unflatten: tensor has no dimensions");
  const int64_t n = self.size(int64_t(d));
  int64_t known = 1, open = 0;
  for (int64_t s : sizes) {
    if (s == -1) ++open;
    else known *= s;
  }
  check(open <= 1, "only one dimension can be inferred");
  const bool fits = open ? known > 0 && n % known == 0 : known == n;
  check(fits, "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", d,
        " (", n, ") in the input tensor");
  Dims out;
  for (size_t i = 0; i < size_t(self.dim()); ++i) {
    if (i != d) {
      out.push_back(self.sizes()[i]);
      continue;
    }
    for (int64_t s : sizes) out.push_back(s == -1 ? n / known : s);
  }
  return rl::view(self, out);
}

Tensor ravel(const Tensor& self) { return rl::view(rl::contiguous(self), {-1}); }

Tensor contiguous(const Tensor& self, MemoryFormat format) {
  check(format != MemoryFormat::Preserve,
        "preserve memory format is unsupported by the contiguous operator");
  return self.is_contiguous(format) ? self : rl::clone(self, format);
}

Tensor resolve_conj(const Tensor& self) { return self; }
Tensor resolve_neg(const Tensor& self) { return self; }

}  // namespace composite
}  // namespace rl
