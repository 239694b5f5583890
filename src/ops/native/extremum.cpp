// Largest and smallest elements and their positions; running sums, products and extrema.
#include "base/parallel.h"
#include "kernels/iter/copy.h"
#include "kernels/iter/reduce.h"
#include "ops/reduce_dims.h"

namespace rl::native {
namespace {

using cpu::ReduceOp;
using cpu::ScanOp;

bool comparable(DType d) {
  return is_integral(d, true) ? !(d >= DType::UInt16 && d <= DType::UInt64)
                              : is_floating(d) && !is_float8(d);
}

DType extremum_compute(DType d) {
  switch (d) {
    case DType::Double: case DType::Int64: case DType::UInt8: return d;
    case DType::Bool: return DType::UInt8;
    case DType::Int8: case DType::Int16: case DType::Int32: return DType::Int32;
    default: return DType::Float;
  }
}

void check_comparable(const char* name, DType d) {
  if (!comparable(d)) dtype_not_implemented(name, d);
}

Tensor values_of(ReduceOp op, const Tensor& self, uint64_t mask, bool keepdim) {
  Tensor out = empty_reduced(self, mask, keepdim, self.dtype());
  run_reduction({op, extremum_compute(self.dtype())}, self, mask, out);
  return out;
}

void check_has_elements(const char* name, const Tensor& self) {
  check(self.numel() > 0, name,
        "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
        "dim with the 'dim' argument.");
}

Tensor extremum_over(const char* name, ReduceOp op, const Tensor& self, IntRef dim, bool keepdim) {
  const uint64_t mask = dim_mask(self, dim);
  if (dim.empty()) check_has_elements(name, self);
  else check_nonempty_dims(name, self, mask);
  check_comparable(op == ReduceOp::Max ? "max_values_cpu" : "min_values_cpu", self.dtype());
  return values_of(op, self, mask, keepdim);
}

Tensor extremum_of_all(const char* name, const char* kernel, ReduceOp op, const Tensor& self) {
  check_has_elements(name, self);
  check_comparable(kernel, self.dtype());
  return values_of(op, self, dim_mask(self, std::nullopt), false);
}

std::tuple<Tensor, Tensor> extremum_and_index(const char* name, ReduceOp op, const Tensor& self,
                                              int64_t dim, bool keepdim) {
  check_type(!self.is_complex(), name, "(): does not support complex input");
  const uint64_t mask = dim_mask(self, IntRef(dim));
  check_nonempty_dims(name, self, mask);
  check_comparable(op == ReduceOp::ArgMax ? "max_cpu" : "min_cpu", self.dtype());
  Tensor values = empty_reduced(self, mask, keepdim, self.dtype());
  Tensor index = empty_reduced(self, mask, keepdim, DType::Int64);
  run_reduction({op, extremum_compute(self.dtype())}, self, mask, index, &values);
  return {values, index};
}

Tensor position(const char* name, const char* kernel, ReduceOp op, const Tensor& self,
                std::optional<int64_t> dim, bool keepdim) {
  check_type(!self.is_complex(), name, "(): does not support complex input");
  check_implemented(self.dtype() != DType::Bool, name, "(): does not support bool input");
  check_comparable(kernel, self.dtype());
  const uint64_t mask = one_dim_mask(self, dim);
  Tensor in = self;
  uint64_t in_mask = mask;
  if (!dim) {  // positions count in row-major order
    check_index(self.numel() > 0, name,
                "(): Expected reduction dim to be specified for input.numel() == 0.");
    in = contiguous_tensor(self);
    in = alias(in, {in.numel()}, {1}, in.offset());
    in_mask = 1;
  } else {
    check_nonempty_dims(name, self, mask);
  }
  Tensor out = empty_reduced(self, mask, keepdim, DType::Int64);
  run_reduction({op, extremum_compute(self.dtype())}, in, in_mask, out);
  return out;
}

}  // namespace

Tensor amax(const Tensor& self, IntRef dim, bool keepdim) {
  return extremum_over("amax", ReduceOp::Max, self, dim, keepdim);
}
Tensor amin(const Tensor& self, IntRef dim, bool keepdim) {
  return extremum_over("amin", ReduceOp::Min, self, dim, keepdim);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const uint64_t mask = one_dim_mask(self, dim);
  if (dim) {
    check_index(self.dim() == 0 || self.size(*dim) != 0, "aminmax: Expected reduction dim ",
                wrap_dim(*dim, self.dim()), " to have non-zero size.");
  } else {
    check(self.numel() > 0, "aminmax(): cannot compute aminmax over an empty dimension as the "
                            "operation has no identity.");
  }
  check_type(!self.is_complex(), "aminmax not implemented for ", self.dtype());
  check_comparable("aminmax_cpu", self.dtype());
  return {values_of(ReduceOp::Min, self, mask, keepdim),
          values_of(ReduceOp::Max, self, mask, keepdim)};
}

Tensor max(const Tensor& self) { return extremum_of_all("max", "max_all", ReduceOp::Max, self); }
Tensor min(const Tensor& self) { return extremum_of_all("min", "min_all", ReduceOp::Min, self); }
std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim) {
  return extremum_and_index("max", ReduceOp::ArgMax, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim) {
  return extremum_and_index("min", ReduceOp::ArgMin, self, dim, keepdim);
}
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return position("argmax", "argmax_cpu", ReduceOp::ArgMax, self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return position("argmin", "argmin_cpu", ReduceOp::ArgMin, self, dim, keepdim);
}

// ---- running results --------------------------------------------------------------------------

namespace {

DType scan_compute(DType d) {
  if (is_complex(d)) return DType::ComplexDouble;
  if (d == DType::Double) return d;
  return is_floating(d) ? DType::Float : DType::Int64;
}

// Runs over dimension `dim` of x (row-major, of its compute type) into y and `index`.
void scan_into(ScanOp op, const char* name, const Tensor& x, int64_t dim, const Tensor& y,
               const Tensor* index) {
  if (x.numel() == 0 || x.is_meta()) return;
  const int64_t n = x.dim() == 0 ? 1 : x.size(dim);
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const int64_t outer = x.numel() / (n * inner), item = x.itemsize();
  // Lines are taken in strips: neighbours share cache lines.
  const int64_t strip = std::min<int64_t>(inner, 256), strips = (inner + strip - 1) / strip;
  const int64_t grain = std::max<int64_t>(1, 16384 / (n * strip));
  parallel_for(0, outer * strips, grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t line = i % strips * strip;
      const int64_t at = i / strips * n * inner + line;
      check_implemented(
          cpu::scan_lines(op, x.dtype(), static_cast<const char*>(x.data()) + at * item,
                          static_cast<char*>(y.data()) + at * item,
                          index ? index->data<int64_t>() + at : nullptr, n,
                          std::min(strip, inner - line), inner),
          name, " of ", x.dtype());
    }
  });
}

Tensor running(ScanOp op, const char* name, const Tensor& self, int64_t dim,
               std::optional<DType> dtype) {
  const DType d = dtype.value_or(is_integral(self.dtype(), true) ? DType::Int64 : self.dtype());
  dim = wrap_dim(dim, self.dim());
  if (is_float8(d)) dtype_not_implemented(name, d);
  const Tensor x = contiguous_tensor(to_dtype(to_dtype(self, d), scan_compute(d)));
  Tensor y = empty_tensor(self.sizes(), x.dtype(), self.device());
  scan_into(op, name, x, dim, y, nullptr);
  return to_dtype(y, d);
}

std::tuple<Tensor, Tensor> running_extremum(ScanOp op, const char* name, const Tensor& self,
                                            int64_t dim) {
  check_comparable(name, self.dtype());
  dim = wrap_dim(dim, self.dim());
  const Tensor x = contiguous_tensor(to_dtype(self, scan_compute(self.dtype())));
  Tensor y = empty_tensor(self.sizes(), x.dtype(), self.device());
  Tensor index = empty_tensor(self.sizes(), DType::Int64, self.device());
  scan_into(op, name, x, dim, y, &index);
  return {to_dtype(y, self.dtype()), index};
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return running(ScanOp::Sum, "cumsum_out_cpu", self, dim, dtype);
}
Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return running(ScanOp::Prod, "cumprod_out_cpu", self, dim, dtype);
}
Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  if (!is_differentiable(self.dtype()) || is_float8(self.dtype()))
    dtype_not_implemented("logcumsumexp_out_cpu", self.dtype());
  return running(ScanOp::LogSumExp, "logcumsumexp_out_cpu", self, dim, std::nullopt);
}
std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  return running_extremum(ScanOp::Max, "cummax_cpu", self, dim);
}
std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
  return running_extremum(ScanOp::Min, "cummin_cpu", self, dim);
}

}  // namespace rl::native
