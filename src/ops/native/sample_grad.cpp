// Derivatives of gamma and Dirichlet samples by their parameters at a fixed quantile (implicit
// reparameterisation: Figurnov, Mohamed, Mnih 2018): dx/da = -(dF/da) / f for a distribution
// function F and density f. The quotients are computed directly, from a series or by
// double-exponential quadrature (Takahasi and Mori 1974), to about double precision.
#include <cmath>

#include "base/parallel.h"
#include "ops/native.h"

namespace rl::native {
namespace {

double digamma(double x) {
  double r = 0;
  for (; x < 12; x += 1) r -= 1 / x;  // recurrence up to the asymptotic range
  const double f = 1 / (x * x);
  return r + std::log(x) - 0.5 / x -
         f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132)))));
}

// Integral of f(v, 1 - v) over 0 < v < 1; logarithmic singularities at the ends are harmless.
template <class F>
double quadrature(F&& f) {
  constexpr double step = 1.0 / 32;
  double sum = 0;
  for (int k = -160; k <= 160; ++k) {
    const double t = k * step, s = 0.5 * M_PI * std::sinh(t);
    const double e = std::exp(-2 * std::fabs(s)), small = e / (1 + e), large = 1 / (1 + e);
    const double weight = 0.5 * M_PI * std::cosh(t) * 2 * small * large;
    if (weight < 1e-300 || small < 1e-290) continue;
    const double v = s < 0 ? f(small, large) : f(large, small);
    if (std::isfinite(v)) sum += v * weight;
  }
  return sum * step;
}

// x <= a: with c_k = x^k / (a (a+1) .. (a+k)), -dP/da / p = x (psi(a) - ln x) sum c_k
//         + x sum c_k h_k, h_k = 1/a + .. + 1/(a+k).
double gamma_series(double a, double x) {
  double c = 1 / a, h = 1 / a, plain = 0, weighted = 0;
  for (int k = 1; k < 10000000; ++k) {
    plain += c;
    weighted += c * h;
    c *= x / (a + k);
    h += 1 / (a + k);
    if (c * (1 + h) < 1e-18 * plain && c * h < 1e-18 * weighted) break;
  }
  return x * ((digamma(a) - std::log(x)) * plain + weighted);
}

// x > a: dQ/da / p = integral over u > 0 of (ln(x + u) - psi(a)) (1 + u/x)^(a-1) e^-u.
double gamma_tail(double a, double x) {
  const double psi = digamma(a);
  const double reach = 60 + 12 * std::sqrt(a) + (a > x ? a - x : 0);
  const int n = 2000;  // Simpson's rule on a smooth integrand that has died out at the end
  const double h = reach / n;
  double sum = 0;
  for (int i = 0; i <= n; ++i) {
    const double u = i * h;
    const double f = (std::log(x + u) - psi) * std::exp((a - 1) * std::log1p(u / x) - u);
    sum += f * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
  }
  return sum * h / 3;
}

double gamma_grad(double a, double x) {
  if (!(a > 0) || !(x > 0) || !std::isfinite(a) || !std::isfinite(x)) {
    return x == 0 && a > 0 ? 0.0 : std::nan("");
  }
  return x <= a + 1 ? gamma_series(a, x) : gamma_tail(a, x);
}

// For x of Beta(a, b): -(dF/da) / (f (1 - x)).
double beta_grad(double x, double a, double total) {
  const double b = total - a;
  if (!(x > 0) || !(x < 1) || !(a > 0) || !(b > 0)) return std::nan("");
  const double shift = digamma(total) - digamma(a);
  const double y = 1 - x;
  if (x <= a / total) {  // t = x v^(1/a)
    const double left = quadrature([&](double v, double) {
      const double log_t = std::log(x) + std::log(v) / a;
      return (log_t + shift) * std::exp((b - 1) * (std::log1p(-std::exp(log_t)) - std::log1p(-x)));
    });
    return -left * x / a / y;
  }
  const double right = quadrature([&](double v, double) {  // 1 - t = y v^(1/b)
    const double rest = y * std::exp(std::log(v) / b), log_t = std::log1p(-rest);
    return (log_t + shift) * std::exp((a - 1) * (log_t - std::log(x)));
  });
  return right / b;
}

template <class F>
Tensor each(const Tensor& model, const Tensor* const* in, int count, const char* name, F&& f) {
  Dims sizes(model.sizes());
  for (int i = 0; i < count; ++i) sizes = broadcast_shapes(sizes, in[i]->sizes());
  Tensor out = empty_tensor(sizes, model.dtype(), model.device());
  if (out.is_meta()) return out;
  for (int i = 0; i < count; ++i)
    check(in[i]->device() == model.device(),
          "Expected all tensors to be on the same device, but found at least two devices, ",
          model.device(), " and ", in[i]->device(), "!");
  Tensor t[3];
  for (int i = 0; i < count; ++i) t[i] = contiguous(expand(*in[i], sizes));
  visit(RealFloatTypes{}, model.dtype(), name, [&]<class T>() {
    parallel_for(0, out.numel(), 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double v[3] = {};
        for (int k = 0; k < count; ++k) v[k] = double(t[k].data<T>()[i]);
        out.data<T>()[i] = T(f(v));
      }
    });
  });
  return out;
}

}  // namespace

Tensor _standard_gamma_grad(const Tensor& self, const Tensor& output) {
  check(self.dtype() == output.dtype(), "Found dtype ", output.dtype(), " but expected ",
        self.dtype());
  const Tensor* in[] = {&self, &output};
  return each(self, in, 2, "_standard_gamma_grad_cpu",
              [](const double* v) { return gamma_grad(v[0], v[1]); });
}

Tensor _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  check(x.dtype() == alpha.dtype() && x.dtype() == total.dtype(), "Found dtype ", alpha.dtype(),
        " but expected ", x.dtype());
  const Tensor* in[] = {&x, &alpha, &total};
  return each(x, in, 3, "_dirichlet_grad_cpu",
              [](const double* v) { return beta_grad(v[0], v[1], v[2]); });
}

}  // namespace rl::native
