// Convolutions: checks with PyTorch's words, geometry, memory formats and the call of
// kernels/conv.h.
#include <algorithm>

#include "kernels/conv.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"
#include "ops/products.h"

namespace rl::native {
namespace {

struct Parameters {
  int64_t stride[3], padding[3], dilation[3], output_padding[3];
};

void expand_parameter(const char* name, IntRef given, size_t n, int64_t* out) {
  check(given.size() == 1 || given.size() == n, "expected ", name, " to be a single integer value "
        "or a list of ", n, " values to match the convolution dimensions, but got ", name, "=",
        given);
  for (size_t i = 0; i < n; ++i) out[i] = given[given.size() == 1 ? 0 : i];
}

Parameters parameters(size_t n, IntRef stride, IntRef padding, IntRef dilation, IntRef extra) {
  Parameters p;
  expand_parameter("stride", stride, n, p.stride);
  expand_parameter("padding", padding, n, p.padding);
  expand_parameter("dilation", dilation, n, p.dilation);
  expand_parameter("output_padding", extra, n, p.output_padding);
  for (size_t i = 0; i < n; ++i) {
    check(p.padding[i] >= 0, "negative padding is not supported");
    check(p.output_padding[i] >= 0, "negative output_padding is not supported");
    check(p.stride[i] > 0, "non-positive stride is not supported");
    check(p.dilation[i] > 0, "dilation should be greater than zero, but got ",
          IntRef(p.dilation, n));
  }
  return p;
}

std::string by_x(IntRef v) {
  std::string s = "(";
  for (size_t i = 0; i < v.size(); ++i) s += (i ? " x " : "") + std::to_string(v[i]);
  return s + ")";
}

void check_channels(const Tensor& input, const Tensor& weight, bool transposed, int64_t groups) {
  const IntRef w = weight.sizes();
  if (transposed) {
    check(input.size(1) == w[0], "Given transposed=1, weight of size ", w, ", expected input",
          input.sizes(), " to have ", w[0], " channels, but got ", input.size(1),
          " channels instead");
    return;
  }
  check(w[0] >= groups, "Given groups=", groups, ", expected weight to be at least ", groups,
        " at dimension 0, but got weight of size ", w, " instead");
  check(w[0] % groups == 0, "Given groups=", groups, ", expected weight to be divisible by ",
        groups, " at dimension 0, but got weight of size [", w, "] instead");
  check(input.size(1) == w[1] * groups, "Given groups=", groups, ", weight of size ", w,
        ", expected input", input.sizes(), " to have ", w[1] * groups, " channels, but got ",
        input.size(1), " channels instead");
}

void check_operands(const Tensor& input, const Tensor& weight, const Tensor& bias, bool transposed,
                    int64_t groups) {
  check(groups > 0, "non-positive groups is not supported");
  const int64_t n = weight.dim();
  check(n >= 3, "weight should have at least three dimensions");
  check(input.dim() == n, "Expected ", n, "-dimensional input for ", n, "-dimensional weight ",
        weight.sizes(), ", but got ", input.dim(), "-dimensional input of size ", input.sizes(),
        " instead");
  check_channels(input, weight, transposed, groups);
  const int64_t out = transposed ? weight.size(1) * groups : weight.size(0);
  check(!bias.defined() || (bias.dim() == 1 && bias.size(0) == out), "Given ",
        transposed ? "transposed=1, " : "", "weight of size ", weight.sizes(),
        ", expected bias to be 1-dimensional with ", out, " elements, but got bias of size ",
        bias.defined() ? bias.sizes() : IntRef(), " instead");
}

void check_dtypes(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check(input.dtype() == weight.dtype(), "Input type (", typeid_name(input.dtype()),
        ") and weight type (", typeid_name(weight.dtype()), ") should be the same");
  check(!bias.defined() || input.dtype() == bias.dtype(), "Input type (",
        typeid_name(input.dtype()), ") and bias type (",
        bias.defined() ? typeid_name(bias.dtype()) : "", ") should be the same");
  product_dtype("slow_conv2d_cpu", input.dtype());
}

void check_kernel_fits(const Tensor& input, const Tensor& weight, const Parameters& p) {
  Dims padded, kernel;
  bool fits = true;
  for (int64_t i = 2; i < input.dim(); ++i) {
    padded.push_back(input.size(i) + 2 * p.padding[i - 2]);
    kernel.push_back(p.dilation[i - 2] * (weight.size(i) - 1) + 1);
    fits = fits && padded.back() >= kernel.back();
  }
  if (!fits)
    fail("Calculated padded input size per channel: ", by_x(padded),
         ". Kernel size: ", by_x(kernel), ". Kernel size can't be greater than actual input size");
}

void check_output_padding(const Parameters& p, int n) {
  static const char* const names[4][3] = {{}, {"width"}, {"height", "width"},
                                          {"depth", "height", "width"}};
  bool fits = true;
  for (int i = 0; i < n; ++i)
    fits = fits && (p.output_padding[i] < p.stride[i] || p.output_padding[i] < p.dilation[i]);
  if (fits) return;
  std::string s = "output padding must be smaller than either stride or dilation, but got";
  for (const auto& [what, values] : {std::pair{"output_padding", p.output_padding},
                                     std::pair{"stride", p.stride},
                                     std::pair{"dilation", p.dilation}})
    for (int i = 0; i < n; ++i) s += str(" ", what, "_", names[n][i], ": ", values[i]);
  fail(s);
}

Dims output_size(IntRef in, IntRef w, const Parameters& p, bool transposed, int64_t groups) {
  Dims out{in[0], transposed ? w[1] * groups : w[0]};
  bool positive = true;
  for (size_t i = 2; i < in.size(); ++i) {
    const size_t d = i - 2;
    const int64_t reach = p.dilation[d] * (w[i] - 1);
    out.push_back(transposed ? (in[i] - 1) * p.stride[d] - 2 * p.padding[d] + reach +
                                   p.output_padding[d] + 1
                             : (in[i] + 2 * p.padding[d] - reach - 1) / p.stride[d] + 1);
    positive = positive && out.back() > 0;
  }
  if (!positive && in[0] * in[1] > 0)
    fail("Given input size per channel: ", by_x(in.slice(2)),
         ". Calculated output size per channel: ", by_x(IntRef(out).slice(2)),
         ". Output size is too small");
  return out;
}

MemoryFormat last_format(int64_t dim) {
  return dim == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}
bool prefers_last(const Tensor& t) { return suggest_memory_format(t) != MemoryFormat::Contiguous; }

Tensor dense(const Tensor& t, bool last) {
  if (!last) return contiguous_tensor(t);
  const MemoryFormat f = last_format(t.dim());
  return t.is_contiguous(f) ? t : clone_tensor(t, f);
}

Tensor empty_dense(IntRef sizes, const Tensor& like, bool last) {
  if (!last) return empty_tensor(sizes, like.dtype(), like.device());
  return empty_format(sizes, like.dtype(), like.device(), last_format(int64_t(sizes.size())));
}

struct Plan {
  Conv conv;
  bool last, weight_last;
};

Plan make_plan(IntRef in, IntRef w, IntRef out, const Parameters& p, bool transposed,
               int64_t groups, bool last, bool weight_last) {
  Plan plan{{}, last, weight_last};
  Conv& c = plan.conv;
  c.spatial = int(in.size()) - 2;
  c.src_last = c.dst_last = last;
  c.weight_last = weight_last;
  c.transposed = transposed;
  c.n = in[0], c.groups = groups, c.in_channels = in[1], c.out_channels = out[1];
  for (int i = 0; i < c.spatial; ++i) {
    c.in[i] = in[size_t(i) + 2], c.kernel[i] = w[size_t(i) + 2], c.out[i] = out[size_t(i) + 2];
    c.stride[i] = p.stride[i], c.padding[i] = p.padding[i], c.dilation[i] = p.dilation[i];
  }
  return plan;
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntRef stride,
                   IntRef padding, IntRef dilation, bool transposed, IntRef output_padding,
                   int64_t groups) {
  check(weight.dim() >= 3, "weight should have at least three dimensions");
  check(weight.dim() <= 5, "convolution: more than three spatial dimensions are not supported");
  const size_t n = size_t(weight.dim()) - 2;
  check(groups > 0, "non-positive groups is not supported");
  const Parameters p = parameters(n, stride, padding, dilation, output_padding);
  check_operands(input, weight, bias, transposed, groups);
  if (transposed) check_output_padding(p, int(n));
  else check_kernel_fits(input, weight, p);
  check_dtypes(input, weight, bias);
  const Dims sizes = output_size(input.sizes(), weight.sizes(), p, transposed, groups);
  const bool last = prefers_last(input) || prefers_last(weight);
  Tensor out = empty_dense(sizes, input, last);
  if (out.is_meta() || out.numel() == 0) return out;
  const bool weight_last = prefers_last(weight);
  const Plan plan = make_plan(input.sizes(), weight.sizes(), sizes, p, transposed, groups, last,
                              weight_last);
  const Tensor x = dense(input, last), w = dense(weight, weight_last);
  const Tensor b = bias.defined() ? contiguous_tensor(bias) : bias;
  if (x.numel() == 0 || w.numel() == 0) {  // nothing to add up
    zero_tensor(out);
    return out;
  }
  conv_forward(out.dtype(), plan.conv, x.data(), w.data(), b.defined() ? b.data() : nullptr,
               out.data());
  return out;
}

Tensor _conv_grad_input(const Tensor& grad_output, const Tensor& weight, IntRef input_size,
                        IntRef stride, IntRef padding, IntRef dilation, bool transposed,
                        IntRef output_padding, int64_t groups) {
  const Parameters p = parameters(input_size.size() - 2, stride, padding, dilation, output_padding);
  const bool last = prefers_last(grad_output) || prefers_last(weight);
  Tensor out = empty_dense(input_size, grad_output, last);
  if (out.is_meta() || out.numel() == 0) return out;
  const bool weight_last = prefers_last(weight);
  const Plan plan = make_plan(input_size, weight.sizes(), grad_output.sizes(), p, transposed,
                              groups, last, weight_last);
  const Tensor g = dense(grad_output, last),
               w = dense(rl::to_dtype(weight, g.dtype()), weight_last);
  if (g.numel() == 0 || w.numel() == 0) zero_tensor(out);
  else conv_backward_data(out.dtype(), plan.conv, g.data(), w.data(), out.data());
  return out;
}

Tensor _conv_grad_weight(const Tensor& grad_output, const Tensor& input, IntRef weight_size,
                         IntRef stride, IntRef padding, IntRef dilation, bool transposed,
                         IntRef output_padding, int64_t groups) {
  const Parameters p =
      parameters(weight_size.size() - 2, stride, padding, dilation, output_padding);
  const bool last = prefers_last(grad_output) || prefers_last(input);
  Tensor out = empty_dense(weight_size, grad_output, last);
  if (out.is_meta() || out.numel() == 0) return out;
  const Plan plan =
      make_plan(input.sizes(), weight_size, grad_output.sizes(), p, transposed, groups, last, last);
  const Tensor g = dense(grad_output, last), x = dense(rl::to_dtype(input, g.dtype()), last);
  if (g.numel() == 0 || x.numel() == 0) zero_tensor(out);
  else conv_backward_weights(out.dtype(), plan.conv, x.data(), g.data(), out.data());
  return out;
}

}  // namespace rl::native
