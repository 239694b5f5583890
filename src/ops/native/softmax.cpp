// Softmax, log-softmax, their gradients, and log-sum-exp.
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/softmax.h"
#include "kernels/iter/copy.h"
#include "ops/reduce_dims.h"

namespace rl::native {
namespace {

bool is_plain_float(DType d) { return is_floating(d) && !is_float8(d); }

// A row-major tensor seen as [outer][n][inner] around a dimension.
struct Around {
  int64_t outer = 1, n = 1, inner = 1;
  Around(const Tensor& t, int64_t dim) {
    for (int64_t d = 0; d < t.dim(); ++d)
      (d < dim ? outer : d == dim ? n : inner) *= t.sizes()[size_t(d)];
  }
};

// f(first element, lines, stride) for strips of neighbouring lines, in parallel.
template <class F>
void for_lines(const Around& a, float cost, F&& f) {
  if (a.outer * a.n * a.inner == 0) return;
  const int64_t strip = a.inner == 1 ? 1 : std::min<int64_t>(a.inner, 128);
  const int64_t strips = (a.inner + strip - 1) / strip;
  const int64_t grain =
      std::max<int64_t>(1, int64_t(32768 / (cost * float(a.n) * float(strip))));
  parallel_for(0, a.outer * strips, grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t line = i % strips * strip;
      f(i / strips * a.n * a.inner + line, std::min(strip, a.inner - line), a.inner);
    }
  });
}

char* element(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.data()) + i * t.itemsize();
}

Tensor softmax_of(bool log, const char* kernel, const Tensor& self, int64_t dim,
                  std::optional<DType> dtype) {
  const DType d = dtype.value_or(self.dtype());
  dim = wrap_dim(dim, self.dim());
  if (!is_plain_float(d)) dtype_not_implemented(kernel, d);
  const DType compute = opmath(d);
  // Rounding to `dtype` first, as converting the input would.
  const Tensor x = contiguous_tensor(to_dtype(to_dtype(self, d), compute));
  Tensor y = empty_tensor(self.sizes(), compute, self.device());
  if (!self.is_meta()) {
    const Around a(self, dim);
    for_lines(a, 6, [&](int64_t at, int64_t lines, int64_t stride) {
      cpu::softmax_lines(compute, log, element(x, at), element(y, at), a.n, lines, stride);
    });
  }
  return to_dtype(y, d);
}

Tensor softmax_gradient(bool log, const Tensor& grad, const Tensor& output, int64_t dim,
                        DType input_dtype) {
  check(grad.sizes() == output.sizes(), "softmax: a gradient of sizes ", grad.sizes(),
        " for a result of sizes ", output.sizes());
  const DType compute = opmath(output.dtype());
  if (compute != DType::Float && compute != DType::Double)
    dtype_not_implemented(log ? "log_softmax_backward" : "softmax_backward", output.dtype());
  dim = wrap_dim(dim, output.dim());
  const Tensor g = contiguous_tensor(to_dtype(grad, compute));
  const Tensor y = contiguous_tensor(to_dtype(output, compute));
  Tensor dx = empty_tensor(output.sizes(), compute, output.device());
  if (!dx.is_meta()) {
    const Around a(output, dim);
    for_lines(a, 2, [&](int64_t at, int64_t lines, int64_t stride) {
      cpu::softmax_backward_lines(compute, log, element(g, at), element(y, at), element(dx, at),
                                  a.n, lines, stride);
    });
  }
  return to_dtype(dx, input_dtype);
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return softmax_of(false, "softmax_kernel_impl", self, dim, dtype);
}
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return softmax_of(true, "log_softmax_kernel_impl", self, dim, dtype);
}
Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim, DType input_dtype) {
  return softmax_gradient(false, grad, output, dim, input_dtype);
}
Tensor log_softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim,
                            DType input_dtype) {
  return softmax_gradient(true, grad, output, dim, input_dtype);
}

// ---- log-sum-exp ------------------------------------------------------------------------------

namespace {

// The reduced dimensions last, row-major.
Tensor reduced_last(const Tensor& self, uint64_t mask) {
  Dims sizes, strides;
  for (uint64_t want : {0, 1})
    for (int64_t d = 0; d < self.dim(); ++d)
      if ((mask >> d & 1) == want) {
        sizes.push_back(self.sizes()[size_t(d)]);
        strides.push_back(self.strides()[size_t(d)]);
      }
  return contiguous_tensor(alias(self, sizes, strides, self.offset()));
}

cdouble complex_logsumexp(const cdouble* x, int64_t n) {
  double high = -INFINITY;
  for (int64_t i = 0; i < n; ++i) high = std::max(high, x[i].real());
  if (std::isinf(high)) high = 0;
  cdouble sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - high);
  return std::log(sum) + high;
}

}  // namespace

Tensor logsumexp(const Tensor& self, IntRef dim, bool keepdim) {
  const uint64_t mask = dim_mask(self, dim);
  const DType d = is_integral(self.dtype(), true) ? default_dtype() : self.dtype();
  if (is_float8(d)) dtype_not_implemented("logsumexp", d);
  const DType compute = is_complex(d) ? DType::ComplexDouble : opmath(d);
  Tensor out = empty_reduced(self, mask, keepdim, compute);
  if (!self.is_meta() && out.numel() > 0) {
    const int64_t n = reduced_count(self, mask);
    const Tensor x = reduced_last(to_dtype(self, compute), mask);
    const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(n, 1));
    parallel_for(0, out.numel(), grain, [&](int64_t b, int64_t e) {
      if (!is_complex(d))
        return cpu::logsumexp_rows(compute, element(x, b * n), element(out, b), e - b, n);
      for (int64_t r = b; r < e; ++r)
        out.data<cdouble>()[r] = complex_logsumexp(x.data<cdouble>() + r * n, n);
    });
  }
  return to_dtype(out, d);
}

}  // namespace rl::native
