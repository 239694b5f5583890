// Products made of other products: matmul, outer, inner, tensordot, chains, powers, distances.
#include <algorithm>
#include <vector>

#include "base/warn.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg_solve.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"
#include "ops/products.h"

namespace rl::composite {
namespace {

int64_t product(IntRef s) {
  int64_t n = 1;
  for (int64_t x : s) n *= x;
  return n;
}

// (..., n, k) with a matrix or vector: the leading dimensions are rows of one product.
Tensor fold_left(const Tensor& a, const Tensor& b) {
  Dims sizes(a.sizes());
  sizes.pop_back();
  const int64_t rows = product(sizes), k = a.sizes().back();
  const Tensor flat = rl::reshape(a, {rows, k});
  if (b.dim() == 1) return rl::_unsafe_view(rl::mv(flat, b), sizes);
  const Tensor out = rl::mm(flat, b);
  sizes.push_back(b.sizes()[1]);
  return rl::_unsafe_view(out, sizes);
}

Tensor batched(const Tensor& self, const Tensor& other) {
  const Tensor a = self.dim() == 1 ? rl::unsqueeze(self, 0) : self;
  const Tensor b = other.dim() == 1 ? rl::unsqueeze(other, 1) : other;
  Dims sizes = broadcast_shapes(a.sizes().slice(0, size_t(a.dim() - 2)),
                                b.sizes().slice(0, size_t(b.dim() - 2)));
  const int64_t batch = product(sizes);
  auto spread = [&](const Tensor& t) {
    const int64_t rows = t.size(-2), cols = t.size(-1);
    if (t.dim() == 3 && t.sizes()[0] == batch) return t;
    Dims wide = sizes;
    wide.push_back(rows);
    wide.push_back(cols);
    return rl::reshape(rl::expand(t, wide, false), {batch, rows, cols});
  };
  const Tensor out = rl::bmm(spread(a), spread(b));
  if (self.dim() > 1) sizes.push_back(a.size(-2));
  if (other.dim() > 1) sizes.push_back(b.size(-1));
  return rl::_unsafe_view(out, sizes);
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  if (a == 2 && b == 2) return rl::mm(self, other);
  check(a > 0 && b > 0, "both arguments to matmul need to be at least 1D, but they are ", a,
        "D and ", b, "D");
  if (a == 1 && b == 1) return rl::dot(self, other);
  if (a == 2 && b == 1) return rl::mv(self, other);
  if (a == 1 && b == 2) return rl::squeeze(rl::mm(rl::unsqueeze(self, 0), other), {0});
  if (b <= 2) return fold_left(self, other);
  return batched(self, other);
}

static void check_vector(const char* name, const Tensor& t) {
  check(t.dim() == 1, "outer: Expected 1-D argument ", name, ", but got ", t.dim(), "-D");
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  check_vector("self", self);
  check_vector("vec2", vec2);
  return rl::unsqueeze(self, 1) * vec2;
}
Tensor ger(const Tensor& self, const Tensor& vec2) { return rl::outer(self, vec2); }

Tensor inner(const Tensor& self, const Tensor& other) {
  check(self.dtype() == other.dtype(), "both inputs should have same dtype");
  if (self.dim() == 0 || other.dim() == 0) return self * other;
  check(self.size(-1) == other.size(-1), "inner() the last dimension must match on both input "
        "tensors but got shapes ", self.sizes(), " and ", other.sizes());
  if (self.dim() == 1 && other.dim() == 1) return rl::dot(self, other);
  return rl::tensordot(self, other, {-1}, {-1});
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
            const Scalar& alpha) {
  check(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ", vec1.dim(), "-D");
  check(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  const Tensor wide = rl::expand(self, {vec1.size(0), vec2.size(0)}, false);
  const DType d = promote_types(promote_types(self.dtype(), vec1.dtype()), vec2.dtype());
  for (const auto& [name, s] : {std::pair{"beta", &beta}, std::pair{"alpha", &alpha}}) {
    check(!is_integral(d, true) || s->is_integral(), "For integral input tensors, argument ", name,
          " must not be a floating point number.");
  }
  const Tensor product = rl::outer(vec1, vec2);
  if (d == DType::Bool) {
    const Tensor right = alpha.to_bool() ? product : rl::zeros_like(product);
    return beta.to_bool() ? rl::logical_or(wide, right) : rl::clone(right);
  }
  if (beta.equal(0)) return rl::to(alpha.equal(1) ? product : product * alpha, d);
  return rl::add(beta.equal(1) ? wide : wide * beta, product, alpha);
}

static void check_bilinear(const Tensor& a, const Tensor& b, const Tensor& w, const Tensor& bias) {
  check(a.dim() == b.dim(), "bilinear(): input dimensions do not match: got ", a.dim(), " and ",
        b.dim());
  for (int64_t d = 0; d + 1 < a.dim(); ++d) {
    check(a.size(d) == b.size(d), "bilinear(): input batch dimensions do not match at dim ", d,
          ": got ", a.size(d), " and ", b.size(d));
  }
  check(w.dim() == 3, "bilinear(): weight must be 3-dimensional, got ", w.dim());
  check(a.size(-1) == w.size(1), "bilinear(): input1 size does not match weight size: got ",
        a.size(-1), " but expected ", w.size(1));
  check(b.size(-1) == w.size(2), "bilinear(): input2 size does not match weight size: got ",
        b.size(-1), " but expected ", w.size(2));
  check(!bias.defined() || bias.size(0) == w.size(0),
        "bilinear(): bias size does not match weight size: got ",
        bias.defined() ? bias.size(0) : 0, " but expected ", w.size(0));
}

// Its products are no calls of the user's: autocast leaves them alone.
struct AutocastAside {
  AutocastAside() : bit(tls.modes & kAutocast) { tls.modes &= uint8_t(~kAutocast); }
  ~AutocastAside() { tls.modes |= bit; }
  uint8_t bit;
};

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  check_bilinear(input1, input2, weight, bias);
  AutocastAside aside;
  Dims sizes(input1.sizes());
  const int64_t i = sizes.back(), j = input2.sizes().back(), o = weight.size(0);
  sizes.pop_back();
  const int64_t rows = product(sizes);
  sizes.push_back(o);
  // (rows, i) x (i, o j) -> (rows, o, j), then each with its row of input2.
  const Tensor w = rl::reshape(rl::permute(weight, {1, 0, 2}), {i, o * j});
  const Tensor half = rl::view(rl::mm(rl::reshape(input1, {rows, i}), w), {rows, o, j});
  const Tensor out = rl::view(rl::bmm(half, rl::reshape(input2, {rows, j, 1})), sizes);
  return bias.defined() ? out + bias : out;
}

// What modes see of linear: the product with the transposed weight.
Tensor linear_parts(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor w = weight.dim() == 2 ? rl::t(weight) : weight;
  if (!bias.defined() || input.dim() < 2 || weight.dim() != 2) {
    const Tensor out = rl::matmul(input, w);
    return bias.defined() ? rl::add(out, bias) : out;
  }
  if (input.dim() == 2) return rl::addmm(bias, input, w);
  Dims sizes(input.sizes());
  sizes.back() = weight.size(0);
  return rl::view(rl::addmm(bias, rl::reshape(input, {-1, input.size(-1)}), w), sizes);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntRef dims1, IntRef dims2) {
  check(dims1.size() == dims2.size(), "both dimension lists should have same length");
  check(self.dtype() == other.dtype(), "both inputs should have same dtype");
  Tensor a = self, b = other;
  SmallVec<int64_t, 8> used1(size_t(a.dim()) + 1, 0), used2(size_t(b.dim()) + 1, 0);
  int64_t common = 1;
  for (size_t i = 0; i < dims1.size(); ++i) {
    const int64_t d1 = wrap_dim(dims1[i], a.dim()), d2 = wrap_dim(dims2[i], b.dim());
    const int64_t s1 = a.size(d1), s2 = b.size(d2);
    if (s2 == 1) a = rl::sum(a, IntRef({d1}), true, a.dtype());
    else if (s1 == 1) b = rl::sum(b, IntRef({d2}), true, b.dtype());
    else check(s1 == s2, "contracted dimensions need to match, but first has size ", s1, " in dim ",
               dims1[i], " and second has size ", s2, " in dim ", dims2[i]);
    used1[size_t(d1)] = used2[size_t(d2)] = 1;
    common *= a.size(d1);
  }
  Dims order1, order2, sizes;
  int64_t rows = 1, cols = 1;
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (used1[size_t(d)]) continue;
    order1.push_back(d);
    sizes.push_back(a.size(d));
    rows *= a.size(d);
  }
  for (int64_t d : dims1) order1.push_back(wrap_dim(d, a.dim()));
  for (int64_t d : dims2) order2.push_back(wrap_dim(d, b.dim()));
  for (int64_t d = 0; d < b.dim(); ++d) {
    if (used2[size_t(d)]) continue;
    order2.push_back(d);
    sizes.push_back(b.size(d));
    cols *= b.size(d);
  }
  const Tensor left = rl::reshape(rl::permute(a, order1), {rows, common});
  const Tensor right = rl::reshape(rl::permute(b, order2), {common, cols});
  return rl::reshape(rl::mm(left, right), sizes);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  const size_t n = size_t(std::max(self.dim(), other.dim()));
  Dims left, right, sizes;
  for (size_t d = 0; d < n; ++d) {
    const int64_t skip1 = int64_t(d) - int64_t(n) + self.dim();
    const int64_t skip2 = int64_t(d) - int64_t(n) + other.dim();
    const int64_t a = skip1 < 0 ? 1 : self.size(skip1), b = skip2 < 0 ? 1 : other.size(skip2);
    left.push_back(a);
    left.push_back(1);
    right.push_back(1);
    right.push_back(b);
    sizes.push_back(a * b);
  }
  return rl::_unsafe_view(
      rl::contiguous(rl::reshape(self, left) * rl::reshape(other, right), MemoryFormat::Contiguous),
      sizes);
}

// ---- chains of matrices

// The order with the fewest multiplications, by dynamic programming (Cormen et al., 15.2).
static Tensor chain(const std::vector<Tensor>& m) {
  const size_t n = m.size();
  if (n == 1) return m[0];
  if (n == 2) return rl::mm(m[0], m[1]);
  std::vector<double> cost(n * n, 0);
  std::vector<size_t> cut(n * n, 0);
  auto side = [&](size_t i) { return double(i < n ? m[i].size(0) : m[n - 1].size(1)); };
  for (size_t length = 2; length <= n; ++length)
    for (size_t i = 0; i + length <= n; ++i) {
      const size_t j = i + length - 1;
      cost[i * n + j] = -1;
      for (size_t k = i; k < j; ++k) {
        const double c =
            cost[i * n + k] + cost[(k + 1) * n + j] + side(i) * side(k + 1) * side(j + 1);
        if (cost[i * n + j] >= 0 && c >= cost[i * n + j]) continue;
        cost[i * n + j] = c;
        cut[i * n + j] = k;
      }
    }
  auto run = [&](auto&& self, size_t i, size_t j) -> Tensor {
    if (i == j) return m[i];
    const size_t k = cut[i * n + j];
    return rl::mm(self(self, i, k), self(self, k + 1, j));
  };
  return run(run, 0, n - 1);
}

static void check_chain(TensorList t) {
  const size_t n = t.size();
  check(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  check(t[0].dim() == 1 || t[0].dim() == 2,
        "multi_dot(): the first tensor must be 1D or 2D but got ", t[0].dim(), "D");
  check(t[n - 1].dim() == 1 || t[n - 1].dim() == 2,
        "multi_dot(): the last tensor must be 1D or 2D but got ", t[n - 1].dim(), "D");
  for (size_t i = 1; i + 1 < n; ++i)
    check(t[i].dim() == 2, "multi_dot(): tensor ", i, " must be 2D but got ", t[i].dim(), "D");
  for (size_t i = 0; i + 1 < n; ++i) {
    check(t[i].dtype() == t[i + 1].dtype(), "multi_dot(): all tensors must have be the same dtype "
          "but tensor 0 is ", t[0].dtype(), " and tensor ", i + 1, " ", t[i + 1].dtype());
    check(t[i].sizes().back() == t[i + 1].sizes()[0], "multi_dot(): tensors ", i, " and ", i + 1,
          " with shapes ", t[i].sizes(), " and ", t[i + 1].sizes(), " cannot be multiplied");
  }
}

Tensor linalg_multi_dot(TensorList tensors) {
  check_chain(tensors);
  std::vector<Tensor> m(tensors.begin(), tensors.end());
  const bool row = m[0].dim() == 1, column = m.back().dim() == 1;
  if (row) m[0] = rl::unsqueeze(m[0], 0);
  if (column) m.back() = rl::unsqueeze(m.back(), -1);
  Tensor out = chain(m);
  if (row) out = rl::squeeze(out, {0});
  return column ? rl::squeeze(out, {-1}) : out;
}

Tensor chain_matmul(TensorList matrices) {
  check(!matrices.empty(), "chain_matmul(): Expected one or more matrices");
  for (size_t i = 0; i < matrices.size(); ++i)
    check(matrices[i].dim() == 2, "Tensor ", i, " is not a matrix");
  return chain({matrices.begin(), matrices.end()});
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  check_implemented(x.is_complex() || x.is_floating(),
                    "linalg.vecdot: Expected a floating point or "
                    "complex tensor as input. Got ",
                    x.dtype());
  check(x.dtype() == y.dtype(), "linalg.vecdot: Expected x and y to have the same dtype, but found "
        "x of type ", x.dtype(), " and y of type ", y.dtype(), " instead");
  return rl::sum(conj_if(x) * y, IntRef({dim}), false, std::nullopt);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim) return rl::linalg_cross(self, other, *dim);
  warn(
      "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim "
      "explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to agree "
      "with that of linalg.cross in a future release.");
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.size(d) == 3) return rl::linalg_cross(self, other, d);
  fail("no dimension of size 3 in input");
}

// ---- powers

static Tensor identity_like(const Tensor& a) {
  return rl::clone(rl::expand(rl::eye(a.size(-1), a.dtype(), a.device()), a.sizes(), false),
                   MemoryFormat::Contiguous);
}

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  check(self.dim() >= 2,
        "linalg.matrix_power: The input tensor A must have at least 2 dimensions.");
  check(self.size(-1) == self.size(-2),
        "linalg.matrix_power: A must be batches of square matrices, "
        "but they are ",
        self.size(-2), " by ", self.size(-1), " matrices");
  if (n == 0) return identity_like(self);
  Tensor base = n < 0 ? rl::linalg_inv(self) : self;
  if (n == 1) return rl::clone(base);
  if (n == -1) return base;
  uint64_t bits = n < 0 ? -uint64_t(n) : uint64_t(n);
  if (bits == 3) return rl::matmul(rl::matmul(base, base), base);
  Tensor out;
  for (; bits; bits >>= 1) {
    if (bits & 1) out = out.defined() ? rl::matmul(out, base) : base;
    if (bits > 1) base = rl::matmul(base, base);
  }
  return out;
}
Tensor matrix_power(const Tensor& self, int64_t n) { return rl::linalg_matrix_power(self, n); }

// ---- distances

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> mode) {
  check(x1.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", x1.dim(), "D");
  check(x2.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", x2.dim(), "D");
  check(x1.size(-1) == x2.size(-1), "X1 and X2 must have the same number of columns. X1: ",
        x1.size(-1), " X2: ", x2.size(-1));
  check(p >= 0, "cdist only supports non-negative p values");
  check(x1.is_floating(), "cdist only supports floating-point dtypes, X1 got: ", x1.dtype());
  check(x2.is_floating(), "cdist only supports floating-point dtypes, X2 got: ", x2.dtype());
  check(!mode || (*mode >= 0 && *mode <= 2),
        "possible modes: 0, 1, 2, but was: ", mode.value_or(0));
  return rl::_cdist_forward(x1, x2, p, mode);
}

Tensor pdist(const Tensor& self, double p) {
  check(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  check(self.is_floating(), "pdist only supports floating-point dtypes");
  check(p >= 0, "pdist only supports non-negative p values");
  return rl::_pdist_forward(self, p);
}

}  // namespace rl::composite
