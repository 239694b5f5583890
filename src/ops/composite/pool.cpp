// Pooling made of other pooling: one dimension as two, maxima without positions, special sizes.
#include "gen/ops/pool.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/backward.h"

namespace rl {

Tensor avg_pool_again(const Tensor& grad, int64_t dims, IntRef kernel, IntRef stride,
                      IntRef padding, bool ceil, bool count, std::optional<int64_t> divisor) {
  return dims == 2 ? rl::avg_pool2d(grad, kernel, stride, padding, ceil, count, divisor)
                   : rl::avg_pool3d(grad, kernel, stride, padding, ceil, count, divisor);
}

Tensor adaptive_avg_again(const Tensor& grad, IntRef output_size) {
  return output_size.size() == 2 ? rl::_adaptive_avg_pool2d(grad, output_size)
                                 : rl::_adaptive_avg_pool3d(grad, output_size);
}

namespace composite {
namespace {

// (a) -> (1, a): the arguments of a two-dimensional pool over one row.
struct Flat {
  int64_t values[2];
  Flat(IntRef v, int64_t other) : values{other, v.empty() ? other : v[0]} {}
  operator IntRef() const { return {values, 2}; }
};

int64_t one(const char* name, const char* what, IntRef v, int64_t fallback) {
  const bool stride = what[0] == 's';
  if (v.empty() && stride) return fallback;
  check(v.size() == 1, name, "() ", what, " must be ", stride ? "None, " : "",
        "an int, list of ints", what[0] == 'k' ? "" : ",",
        " or tuple of ints of size 1 but got size ", v.size());
  return v[0];
}

void check_max1d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding, IntRef dilation,
                 bool ceil) {
  check((self.dim() == 2 && self.size(0) != 0 && self.size(1) != 0) ||
            (self.dim() == 3 && self.size(1) != 0 && self.size(2) != 0),
        "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
        "input, but got:", self.sizes());
  const int64_t k = one("max_pool1d", "kernel_size", kernel, 0);
  const int64_t s = one("max_pool1d", "stride", stride, k);
  const int64_t p = one("max_pool1d", "padding", padding, 0);
  const int64_t d = one("max_pool1d", "dilation", dilation, 1);
  check(k > 0, "max_pool1d() kernel_size must be greater than zero, but got ", k);
  check(s > 0, "max_pool1d() stride must be greater than zero, but got ", s);
  check(p >= 0, "max_pool1d() padding must be non-negative, but got ", p);
  check(p <= k / 2, "max_pool1d() padding should be at most half of kernel size, but got padding=",
        p, " and kernel_size=", k);
  check(d > 0, "max_pool1d() dilation must be greater than zero, but got ", d);
  const int64_t room = self.size(-1) + 2 * p - d * (k - 1) - 1 + (ceil ? s - 1 : 0);
  int64_t n = (room >= 0 ? room / s : -((-room + s - 1) / s)) + 1;
  if (ceil && (n - 1) * s >= self.size(-1) + p) --n;
  check(n > 0, "max_pool1d() Invalid computed output size: ", n);
}

std::tuple<Tensor, Tensor> max1d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding,
                                 IntRef dilation, bool ceil) {
  auto [out, index] = rl::max_pool2d_with_indices(
      rl::unsqueeze(self, -2), Flat(kernel, 1), Flat(stride.empty() ? kernel : stride, 1),
      Flat(padding, 0), Flat(dilation, 1), ceil);
  return {rl::squeeze(out, {-2}), rl::squeeze(index, {-2})};
}

void check_dims(const char* name, const Tensor& self) {
  check(self.dim() == 2 || self.dim() == 3, "Expected 2 to 3 dimensions, but got ", self.dim(),
        "-dimensional tensor for argument #1 'self' (while checking arguments for ", name, ")");
}
void check_one(const char* name, const char* what, IntRef v) {
  check(v.size() == 1, name, "() argument '", what, "' should contain one int (got ", v.size(),
        ")");
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntRef kernel, IntRef stride,
                                                   IntRef padding, IntRef dilation, bool ceil) {
  check_dims("max_pool1d", self);
  check_one("max_pool1d", "kernel_size", kernel);
  return max1d(self, kernel, stride, padding, dilation, ceil);
}

Tensor max_pool1d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding, IntRef dilation,
                  bool ceil) {
  check_max1d(self, kernel, stride, padding, dilation, ceil);
  if (!self.is_floating()) dtype_not_implemented("max_pool1d_impl", self.dtype());
  return std::get<0>(max1d(self, kernel, stride, padding, dilation, ceil));
}
Tensor max_pool2d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding, IntRef dilation,
                  bool ceil) {
  return std::get<0>(
      rl::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil));
}
Tensor max_pool3d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding, IntRef dilation,
                  bool ceil) {
  return std::get<0>(
      rl::max_pool3d_with_indices(self, kernel, stride, padding, dilation, ceil));
}

Tensor avg_pool1d(const Tensor& self, IntRef kernel, IntRef stride, IntRef padding, bool ceil,
                  bool count_include_pad) {
  check_dims("avg_pool1d", self);
  check_one("avg_pool1d", "kernel_size", kernel);
  if (!stride.empty()) check_one("avg_pool1d", "stride", stride);
  check_one("avg_pool1d", "padding", padding);
  const Tensor out = rl::avg_pool2d(rl::unsqueeze(self, -2), Flat(kernel, 1),
                                    Flat(stride.empty() ? kernel : stride, 1), Flat(padding, 0),
                                    ceil, count_include_pad, std::nullopt);
  return rl::squeeze(out, {-2});
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntRef output_size) {
  check_dims("adaptive_avg_pool1d", self);
  check_one("adaptive_avg_pool1d", "output_size", output_size);
  return rl::squeeze(rl::adaptive_avg_pool2d(rl::unsqueeze(self, -2), Flat(output_size, 1)), {-2});
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, IntRef output_size) {
  check_dims("adaptive_max_pool1d", self);
  check_one("adaptive_max_pool1d", "output_size", output_size);
  for (int64_t d = 1; d < self.dim(); ++d)
    check(self.size(d) > 0, "adaptive_max_pool1d(): Expected input to have non-zero size for "
          "non-batch dimensions, but input has sizes ", self.sizes(), " with dimension ", d,
          " being empty");
  auto [out, index] = rl::adaptive_max_pool2d(rl::unsqueeze(self, -2), Flat(output_size, 1));
  return {rl::squeeze(out, {-2}), rl::squeeze(index, {-2})};
}

static void check_output_size(const char* name, IntRef v, size_t n) {
  check(v.size() == n, name, ": output_size must be ", n);
  for (int64_t s : v) {
    if (s >= 0) continue;
    std::string all;
    for (int64_t x : v) all += (all.empty() ? "" : ", ") + std::to_string(x);
    fail(name, ": elements of output_size must be greater than or equal to 0 but received {", all,
         "}");
  }
}

Tensor adaptive_avg_pool2d(const Tensor& self, IntRef output_size) {
  check_output_size("adaptive_avg_pool2d", output_size, 2);
  const bool whole = output_size[0] == 1 && output_size[1] == 1 && self.is_floating() &&
                     (self.dim() == 3 || self.dim() == 4) && self.size(-1) > 0 && self.size(-2) > 0;
  if (!whole) return rl::_adaptive_avg_pool2d(self, output_size);
  const Tensor out = rl::mean(self, IntRef({-1, -2}), true, std::nullopt);
  if (suggest_memory_format(self) != MemoryFormat::ChannelsLast) return out;
  const int64_t n = self.size(0), c = self.size(1);
  return rl::as_strided(out, {n, c, 1, 1}, {c, 1, c, c}, std::nullopt);
}

Tensor adaptive_avg_pool3d(const Tensor& self, IntRef output_size) {
  check_output_size("adaptive_avg_pool3d", output_size, 3);
  const bool whole = output_size == IntRef({1, 1, 1}) && self.is_floating() &&
                     (self.dim() == 4 || self.dim() == 5) && self.size(-1) > 0 &&
                     self.size(-2) > 0 && self.size(-3) > 0;
  if (!whole) return rl::_adaptive_avg_pool3d(self, output_size);
  return rl::mean(self, IntRef({-1, -2, -3}), true, std::nullopt);
}

}  // namespace composite
}  // namespace rl
