// Embedding tables: rows by number, the gradient of the table, and limits on row norms.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/index_tools.h"

namespace rl::native {
namespace {

void check_indices(const Tensor& indices, const char* name) {
  check(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
        "Long, Int; "
        "but got torch.", scalar_type_name(indices.dtype()),
        "Tensor instead (while checking arguments for ", name, ")");
}

char* row_of(const Tensor& t, int64_t row, int64_t width) {
  return static_cast<char*>(t.data()) + row * width * t.itemsize();
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
  check(weight.dim() == 2, "'weight' must be 2-D");
  check_indices(indices, "embedding");
  Dims sizes(indices.sizes());
  const int64_t width = weight.size(1), rows = weight.size(0);
  sizes.push_back(width);
  Tensor out = empty_tensor(sizes, weight.dtype(), weight.device());
  if (out.is_meta() || indices.is_meta()) return out;
  const Tensor at = index_numbers(indices);
  const int64_t* p = at.data<int64_t>();
  check_index(first_outside(p, at.numel(), 0, rows) < 0, "index out of range in self");
  if (out.numel() == 0) return out;
  const GatherRow row = gather_row(weight.itemsize());
  const int64_t step = weight.stride(1), stride = weight.stride(0);
  parallel_for(0, at.numel(), std::max<int64_t>(1, 16384 / width), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      row(row_of(out, i, width), 1,
          static_cast<char*>(weight.data()) + p[i] * stride * weight.itemsize(),
          RowPlaces{nullptr, 0, step}, width);
  });
  return out;
}

Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices,
    int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq) {
  check_indices(indices, "embedding_backward");
  const int64_t width = grad_output.size(-1);
  Tensor out = full({num_weights, width}, Scalar(0), grad_output.dtype(), grad_output.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor at = index_numbers(indices), grad = contiguous(grad_output);
  const int64_t* p = at.data<int64_t>();
  const int64_t n = at.numel();
  std::vector<int64_t> counts;
  if (scale_grad_by_freq) {
    counts.assign(size_t(num_weights), 0);
    for (int64_t i = 0; i < n; ++i) ++counts[size_t(p[i])];
  }
  const CombineRow add = combine_row(Combine::Add, grad.dtype(), "embedding_backward");
  // Every thread owns columns, so that rows named twice add up in order.
  parallel_for(0, width, std::max<int64_t>(16, 65536 / std::max<int64_t>(n, 1)),
               [&](int64_t b, int64_t e) {
    Tensor part;
    for (int64_t i = 0; i < n; ++i) {
      if (p[i] == padding_idx) continue;
      const char* from = row_of(grad, i, width) + b * grad.itemsize();
      char* to = row_of(out, p[i], width) + b * grad.itemsize();
      if (scale_grad_by_freq && counts[size_t(p[i])] > 1) {
        if (!part.defined()) part = empty_tensor({e - b}, grad.dtype());
        visit(FloatTypes{}, grad.dtype(), "embedding_backward", [&]<class T>() {
          const float scale = 1.0f / float(counts[size_t(p[i])]);
          for (int64_t k = 0; k < e - b; ++k)
            part.data<T>()[k] = T(reinterpret_cast<const T*>(from)[k] * T(scale));
        });
        from = static_cast<const char*>(part.data());
      }
      add(to, RowPlaces{}, from, 1, e - b);
    }
  });
  return out;
}

void embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm,
    double norm_type) {
  check(self.dim() == 2, "'self' must be 2-D");
  check_indices(indices, "embedding_renorm_");
  if (self.is_meta()) return;
  const Tensor at = index_numbers(indices);
  std::vector<int64_t> rows(at.data<int64_t>(), at.data<int64_t>() + at.numel());
  check_index(first_outside(rows.data(), int64_t(rows.size()), 0, self.size(0)) < 0,
              "index out of range in self");
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (int64_t r : rows) {
    const Tensor place = select(self, 0, r);
    const Tensor values = contiguous(to_dtype(place, DType::Double));
    double norm = 0;
    for (int64_t k = 0; k < values.numel(); ++k) {
      const double v = std::fabs(values.data<double>()[k]);
      if (std::isinf(norm_type)) norm = std::max(norm, v);
      else norm += norm_type == 2 ? v * v : std::pow(v, norm_type);
    }
    if (!std::isinf(norm_type)) norm = std::pow(norm, 1 / norm_type);
    if (norm <= max_norm) continue;
    const double scale = max_norm / (norm + 1e-7);
    for (int64_t k = 0; k < values.numel(); ++k) values.data<double>()[k] *= scale;
    copy_into(place, values);
  }
}

}  // namespace rl::native
