// Convolutions by name: batch dimension, string padding, gradient of the bias.
#include <string>

#include "base/warn.h"
#include "gen/ops/conv.h"
#include "gen/ops/arith.h"
#include "gen/ops/join.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view_grads.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"
#include "ops/int_array.h"

namespace rl {

Tensor conv_grad_bias(const Tensor& grad) {
  Dims dims{0};
  for (int64_t d = 2; d < grad.dim(); ++d) dims.push_back(d);
  return rl::sum(grad, IntRef(dims), false, std::nullopt);
}

namespace composite {
namespace {

Tensor run(const char* name, int64_t n, const Tensor& input, const Tensor& weight,
           const Tensor& bias, IntRef stride, IntRef padding, IntRef dilation, bool transposed,
           IntRef output_padding, int64_t groups) {
  check(input.dim() == n + 1 || input.dim() == n + 2, "Expected ", n + 1, "D (unbatched) or ",
        n + 2, "D (batched) input to ", name, ", but got input of size: ", input.sizes());
  if (input.dim() == n + 2) {
    return rl::convolution(input, weight, bias, stride, padding, dilation, transposed,
                           output_padding, groups);
  }
  const Tensor out = rl::convolution(rl::unsqueeze(input, 0), weight, bias, stride, padding,
                                     dilation, transposed, output_padding, groups);
  return rl::squeeze(out, {0});
}

Tensor plain(const char* name, int64_t n, const Tensor& input, const Tensor& weight,
             const Tensor& bias, IntRef stride, IntRef padding, IntRef dilation, int64_t groups) {
  return run(name, n, input, weight, bias, stride, padding, dilation, false, IntRef(int_array<0>),
             groups);
}

int64_t pick(IntRef v, size_t i) { return v[v.size() == 1 ? 0 : i]; }

// As many outputs as inputs. Where the two sides differ, the second gets a zero more.
Tensor same(const char* name, int64_t n, Tensor input, const Tensor& weight, const Tensor& bias,
            IntRef stride, IntRef dilation, int64_t groups) {
  check(weight.dim() >= 3, "weight should have at least three dimensions");
  for (int64_t s : stride)
    check(s == 1, "padding='same' is not supported for strided convolutions");
  const bool batched = input.dim() == n + 2;
  const int64_t k = weight.dim() - 2;
  const int64_t whole = batched ? input.dim() : input.dim() + 1;
  check(whole == weight.dim(), "Expected ", weight.dim(), "-dimensional input for ", weight.dim(),
        "-dimensional weight ", weight.sizes(), ", but got ", whole,
        "-dimensional input of size ", input.sizes(), " instead");
  Dims padding;
  for (int64_t i = 0; i < k; ++i) {
    const int64_t total = pick(dilation, size_t(i)) * (weight.size(i + 2) - 1);
    padding.push_back(total / 2);
    if (total % 2 == 0) continue;
    const int64_t d = i + (batched ? 2 : 1), length = input.size(d);
    if (i == 0 || padding.size() == 1)
      warn(
          "Using padding='same' with even kernel lengths and odd dilation may require a "
          "zero-padded "
          "copy of the input be created");
    Dims sizes(input.sizes());
    ++sizes[size_t(d)];
    input = rl::slice_backward(input, sizes, d, 0, length, 1);  // zeros after the end
  }
  return plain(name, n, input, weight, bias, stride, padding, dilation, groups);
}

Tensor padded(const char* name, int64_t n, const Tensor& input, const Tensor& weight,
              const Tensor& bias, IntRef stride, std::string_view padding, IntRef dilation,
              int64_t groups) {
  if (padding == "valid") {
    return plain(name, n, input, weight, bias, stride, IntRef(int_array<0>), dilation, groups);
  }
  check(padding == "same", "Invalid padding string: '", padding, "'");
  return same(name, n, input, weight, bias, stride, dilation, groups);
}

}  // namespace

#define RL_CONV(N)                                                                               \
  Tensor conv##N##d(const Tensor& input, const Tensor& weight, const Tensor& bias,               \
                    IntRef stride, IntRef padding, IntRef dilation, int64_t groups) {            \
    return plain("conv" #N "d", N, input, weight, bias, stride, padding, dilation, groups);      \
  }                                                                                              \
  Tensor conv##N##d_padded(const Tensor& input, const Tensor& weight, const Tensor& bias,        \
                           IntRef stride, std::string_view padding, IntRef dilation,             \
                           int64_t groups) {                                                     \
    return padded("conv" #N "d", N, input, weight, bias, stride, padding, dilation, groups);     \
  }                                                                                              \
  Tensor conv_transpose##N##d(const Tensor& input, const Tensor& weight, const Tensor& bias,     \
                              IntRef stride, IntRef padding, IntRef output_padding,              \
                              int64_t groups, IntRef dilation) {                                 \
    return run("conv_transpose" #N "d", N, input, weight, bias, stride, padding, dilation, true, \
               output_padding, groups);                                                          \
  }
RL_CONV(1)
RL_CONV(2)
RL_CONV(3)
#undef RL_CONV

// (T, B, C) with weight (width, C, out): a 1-d convolution of (B, C, T).
Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  check(self.dim() == 3, "Input must have 3 dims: time, batch, in_channel");
  check(weight.dim() == 3,
        "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
  check(bias.dim() == 1, "Bias must be 1-D");
  check(self.size(2) == weight.size(1),
        "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
  check(weight.size(2) == bias.size(0),
        "Bias size must equal dim 2 in the weight tensor (output channels).");
  const Tensor out = rl::convolution(rl::permute(self, {1, 2, 0}), rl::permute(weight, {2, 1, 0}),
                                     bias, IntRef(int_array<1>), IntRef(pad), IntRef(int_array<1>),
                                     false, IntRef(int_array<0>), 1);
  return rl::contiguous(rl::permute(out, {2, 0, 1}), MemoryFormat::Contiguous);
}

}  // namespace composite
}  // namespace rl
