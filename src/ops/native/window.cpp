// Windows of signals, computed in double.
#include <cmath>

#include "ops/native.h"

namespace rl::native {
namespace {

constexpr double kTwoPi = 6.28318530717958647693;

// value(i, n) for i < length; n = length - 1, or length when periodic.
template <class F>
Tensor window(const char* name, int64_t length, bool periodic, std::optional<DType> dtype,
              std::optional<Device> device, F&& value) {
  const DType d = dtype.value_or(default_dtype());
  check(is_floating(d) || is_complex(d), name, " expects floating point dtypes, got: ", d);
  check(length >= 0, name, " requires non-negative window_length, got window_length=", length);
  Tensor out = empty_tensor({length}, DType::Double, device.value_or(Device{}));
  if (out.is_meta()) return empty_tensor({length}, d, out.device());
  const double n = double(periodic ? length : length - 1);
  for (int64_t i = 0; i < length; ++i)
    out.data<double>()[i] = length == 1 ? 1 : value(double(i), n);
  return to_dtype(out, d);
}

double cosine(double i, double n, double k) { return std::cos(kTwoPi * k * i / n); }

}  // namespace

Tensor hann_window(int64_t length, bool periodic, std::optional<DType> dtype,
                   std::optional<Device> device) {
  return window("hann_window", length, periodic, dtype, device,
                [](double i, double n) { return 0.5 - 0.5 * cosine(i, n, 1); });
}
Tensor hamming_window(int64_t length, bool periodic, double alpha, double beta,
                      std::optional<DType> dtype, std::optional<Device> device) {
  return window("hamming_window", length, periodic, dtype, device,
                [=](double i, double n) { return alpha - beta * cosine(i, n, 1); });
}
Tensor blackman_window(int64_t length, bool periodic, std::optional<DType> dtype,
                       std::optional<Device> device) {
  return window("blackman_window", length, periodic, dtype, device, [](double i, double n) {
    return std::max(0.0, 0.42 - 0.5 * cosine(i, n, 1) + 0.08 * cosine(i, n, 2));
  });
}
Tensor bartlett_window(int64_t length, bool periodic, std::optional<DType> dtype,
                       std::optional<Device> device) {
  return window("bartlett_window", length, periodic, dtype, device,
                [](double i, double n) { return 1 - std::fabs(2 * i / n - 1); });
}
Tensor kaiser_window(int64_t length, bool periodic, double beta, std::optional<DType> dtype,
                     std::optional<Device> device) {
  return window("kaiser_window", length, periodic, dtype, device, [=](double i, double n) {
    const double x = 2 * i / n - 1;
    return std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1 - x * x))) /
           std::cyl_bessel_i(0.0, beta);
  });
}

}  // namespace rl::native
