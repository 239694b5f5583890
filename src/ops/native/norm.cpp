// Layer norm, RMS norm and group norm, forward and backward. Arithmetic is in float or double; half
// inputs are converted as a whole, so are results.
#include <array>
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/norm.h"
#include "kernels/iter/copy.h"

namespace rl::native {
namespace {

bool is_plain_float(DType d) { return is_floating(d) && !is_float8(d); }

Tensor prepared(const Tensor& t, DType compute) {  // row-major, of the compute type
  return t.defined() ? contiguous_tensor(to_dtype(t, compute)) : t;
}
const void* address(const Tensor& t) { return t.defined() ? t.data() : nullptr; }
char* element(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.data()) + i * t.itemsize();
}
int64_t row_grain(int64_t n) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(n, 1)); }

// Channels-last inputs give channels-last results, all others row-major ones.
MemoryFormat output_format(const Tensor& t) {
  const MemoryFormat f = suggest_memory_format(t);
  return f == MemoryFormat::ChannelsLast || f == MemoryFormat::ChannelsLast3d
             ? f
             : MemoryFormat::Contiguous;
}
Tensor in_format(const Tensor& t, DType dtype, MemoryFormat f) {
  if (t.dtype() == dtype && t.is_contiguous(f)) return t;
  Tensor out = empty_format(t.sizes(), dtype, t.device(), f);
  copy_tensor(out, t);
  return out;
}

// Statistics come in the input's type, or in float where a 16-bit input meets float parameters.
DType statistics_dtype(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor& parameter = weight.defined() ? weight : bias;
  if (is_reduced(input.dtype()) && parameter.defined() && parameter.dtype() == DType::Float)
    return DType::Float;
  return input.dtype();
}

void check_parameter(const char* what, const Tensor& p, IntRef normalized_shape) {
  check(!p.defined() || p.sizes() == normalized_shape, "Expected ", what,
        " to be of same shape as normalized_shape, but got ", what, " of shape ",
        p.defined() ? p.sizes() : IntRef(), " and normalized_shape = ", normalized_shape);
}

// Elements of a row; the error words of layer_norm and rms_norm differ by a comma.
int64_t check_normalized(const Tensor& input, IntRef shape, const Tensor& weight,
                         const Tensor& bias, bool rms) {
  check(!shape.empty(), "Expected normalized_shape to be at least 1-dimensional, i.e., containing "
        "at least one element, but got normalized_shape = ", shape);
  check_parameter("weight", weight, shape);
  check_parameter("bias", bias, shape);
  const size_t n = size_t(input.dim()), k = shape.size();
  if (n < k || !(input.sizes().slice(n - k) == shape)) {
    std::string want = rms ? "[*" : "[*, ";
    for (size_t i = 0; i < k; ++i) {
      if (i) want += ", ";
      append(want, shape[i]);
    }
    fail("Given normalized_shape=", shape, ", expected input with shape ", want,
         "], but got input of size", input.sizes());
  }
  return numel_of(shape);
}

Dims statistics_sizes(const Tensor& input, size_t normalized) {
  Dims sizes(input.sizes());
  for (size_t i = sizes.size() - normalized; i < sizes.size(); ++i) sizes[i] = 1;
  return sizes;
}

struct RowNorm {
  Tensor out, mean, rstd;
};

RowNorm norm_rows(const Tensor& input, IntRef shape, const Tensor& weight, const Tensor& bias,
                  double eps, bool rms) {
  const int64_t n = check_normalized(input, shape, weight, bias, rms);
  if (!is_plain_float(input.dtype()))
    dtype_not_implemented(rms ? "rms_norm" : "LayerNormKernelImpl", input.dtype());
  const DType compute = opmath(input.dtype());
  const Tensor x = prepared(input, compute), w = prepared(weight, compute),
               b = prepared(bias, compute);
  Tensor y = empty_tensor(input.sizes(), compute, input.device());
  const Dims stat_sizes = statistics_sizes(input, shape.size());
  Tensor mean = empty_tensor(stat_sizes, DType::Double, input.device());
  Tensor rstd = empty_tensor(stat_sizes, DType::Double, input.device());
  if (!input.is_meta()) {
    parallel_for(0, mean.numel(), row_grain(n), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r)
        cpu::norm_row(compute, rms, element(x, r * n), element(y, r * n), n, address(w),
                      address(b), eps, mean.data<double>() + r, rstd.data<double>() + r);
    });
  }
  const DType stat = statistics_dtype(input, weight, bias);
  return {to_dtype(y, input.dtype()), to_dtype(mean, stat), to_dtype(rstd, stat)};
}

// Rows are summed up in pieces that depend on their number only, each into sums of its own.
constexpr int64_t kPieces = 16;

struct ParameterSums {
  Tensor weight, bias;  // [pieces][n] in double; undefined if not wanted
  int64_t n;
  ParameterSums(int64_t pieces, int64_t n, bool want_weight, bool want_bias) : n(n) {
    if (want_weight) weight = full_tensor({pieces, n}, Scalar(0.0), DType::Double);
    if (want_bias) bias = full_tensor({pieces, n}, Scalar(0.0), DType::Double);
  }
  static double* row(const Tensor& t, int64_t piece, int64_t n) {
    return t.defined() ? t.data<double>() + piece * n : nullptr;
  }
  // The total over pieces, in the shape and dtype of `like`.
  static Tensor total(const Tensor& t, int64_t n, IntRef sizes, DType dtype) {
    if (!t.defined()) return {};
    double* first = t.data<double>();
    for (int64_t p = 1; p < t.size(0); ++p)
      for (int64_t i = 0; i < n; ++i) first[i] += t.data<double>()[p * n + i];
    Tensor out = empty_tensor(sizes, dtype);
    copy_tensor(out, alias(t, sizes, contiguous_strides(sizes), 0));
    return out;
  }
};

std::tuple<Tensor, Tensor, Tensor> norm_rows_backward(const Tensor& grad, const Tensor& input,
                                                      IntRef shape, const Tensor& mean,
                                                      const Tensor& rstd, const Tensor& weight,
                                                      DType bias_dtype, std::array<bool, 3> mask,
                                                      bool rms) {
  const int64_t n = numel_of(shape), rows = n == 0 ? 0 : input.numel() / n;
  const DType compute = opmath(input.dtype());
  const Device device = input.device();
  const DType weight_dtype = weight.defined() ? weight.dtype() : input.dtype();
  if (input.is_meta()) {
    auto made = [&](bool want, IntRef sizes, DType d) {
      return want ? empty_tensor(sizes, d, device) : Tensor();
    };
    return {made(mask[0], input.sizes(), input.dtype()), made(mask[1], shape, weight_dtype),
            made(mask[2], shape, bias_dtype)};
  }
  const Tensor x = prepared(input, compute), g = prepared(grad, compute),
               w = prepared(weight, compute);
  const Tensor m = rms ? Tensor() : prepared(mean, DType::Double);
  const Tensor s = prepared(rstd, DType::Double);
  Tensor dx = mask[0] ? empty_tensor(input.sizes(), compute, device) : Tensor();
  const int64_t pieces = std::max<int64_t>(1, std::min(kPieces, rows / row_grain(n)));
  ParameterSums sums(pieces, n, mask[1], mask[2]);
  parallel_for(0, pieces, 1, [&](int64_t from, int64_t to) {
    for (int64_t p = from; p < to; ++p) {
      const int64_t r0 = rows * p / pieces, r1 = rows * (p + 1) / pieces;
      const double *mu = rms ? nullptr : m.data<double>(), *sigma = s.data<double>();
      for (int64_t r = r0; mask[0] && r < r1; ++r)
        cpu::norm_row_backward(compute, rms, element(g, r * n), element(x, r * n), n, address(w),
                               mu ? mu[r] : 0.0, sigma[r], element(dx, r * n));
      if (mask[1] || mask[2])
        cpu::norm_parameter_sums(compute, element(g, r0 * n), element(x, r0 * n), r1 - r0, n,
                                 mu ? mu + r0 : nullptr, sigma + r0,
                                 ParameterSums::row(sums.weight, p, n),
                                 ParameterSums::row(sums.bias, p, n));
    }
  });
  return {dx.defined() ? to_dtype(dx, input.dtype()) : dx,
          ParameterSums::total(sums.weight, n, shape, weight_dtype),
          ParameterSums::total(sums.bias, n, shape, bias_dtype)};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntRef normalized_shape,
                                                     const Tensor& weight, const Tensor& bias,
                                                     double eps) {
  RowNorm r = norm_rows(input, normalized_shape, weight, bias, eps, false);
  return {r.out, r.mean, r.rstd};
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(
    const Tensor& grad, const Tensor& input, IntRef normalized_shape, const Tensor& mean,
    const Tensor& rstd, const Tensor& weight, const Tensor& bias, std::array<bool, 3> mask) {
  const DType bias_dtype = bias.defined() ? bias.dtype() : input.dtype();
  return norm_rows_backward(grad, input, normalized_shape, mean, rstd, weight, bias_dtype, mask,
                            false);
}

// Without `eps`: the machine epsilon of the type that the arithmetic is done in.
std::tuple<Tensor, Tensor> fused_rms_norm(const Tensor& input, IntRef normalized_shape,
                                          const Tensor& weight, std::optional<double> eps) {
  const double least = input.dtype() == DType::Double ? std::numeric_limits<double>::epsilon()
                                                      : std::numeric_limits<float>::epsilon();
  RowNorm r = norm_rows(input, normalized_shape, weight, {}, eps.value_or(least), true);
  return {in_format(r.out, input.dtype(), output_format(input)), r.rstd};
}

std::tuple<Tensor, Tensor> fused_rms_norm_backward(const Tensor& grad, const Tensor& input,
                                                   IntRef normalized_shape, const Tensor& rstd,
                                                   const Tensor& weight,
                                                   std::array<bool, 2> mask) {
  auto [dx, dweight, none] = norm_rows_backward(grad, input, normalized_shape, {}, rstd, weight,
                                                input.dtype(), {mask[0], mask[1], false}, true);
  return {dx, dweight};
}

// ---- group norm -------------------------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, int64_t N, int64_t C,
                                                     int64_t HxW, int64_t group, double eps) {
  check(group > 0, "Expected num groups to be greater than 0, got ", group);
  check(C > 0, "Expected number of channels to be greater than 0, got ", C);
  check(C % group == 0, "Expected number of channels in input to be divisible by num_groups, but "
        "got input of shape ", input.sizes(), " and num_groups=", group);
  for (const Tensor* p : {&weight, &bias})
    check(!p->defined() || (p->dim() == 1 && p->numel() == C), "Expected ",
          p == &weight ? "weight" : "bias",
          " to be a vector of size equal to the number of channels in input, but got ",
          p == &weight ? "weight" : "bias", " of shape ", p->defined() ? p->sizes() : IntRef(),
          " and input of shape ", input.sizes());
  if (!is_plain_float(input.dtype())) dtype_not_implemented("GroupNormKernelImpl", input.dtype());
  const DType compute = opmath(input.dtype());
  const DType stat = statistics_dtype(input, weight, bias);
  Tensor mean = empty_tensor({N, group}, DType::Double, input.device());
  Tensor rstd = empty_tensor({N, group}, DType::Double, input.device());
  Tensor y = empty_tensor(input.sizes(), compute, input.device());
  if (!input.is_meta()) {
    const Tensor x = prepared(input, compute), w = prepared(weight, DType::Double),
                 b = prepared(bias, DType::Double);
    const int64_t channels = C / group, n = channels * HxW;
    parallel_for(0, N * group, row_grain(n), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        double *m = mean.data<double>() + r, *s = rstd.data<double>() + r;
        cpu::norm_row(compute, false, element(x, r * n), element(y, r * n), n, nullptr, nullptr,
                      eps, m, s);
        if (!w.defined() && !b.defined()) continue;
        for (int64_t k = 0; k < channels; ++k) {
          const int64_t c = r % group * channels + k, at = r * n + k * HxW;
          const double scale = w.defined() ? w.data<double>()[c] : 1.0;
          const double shift = b.defined() ? b.data<double>()[c] : 0.0;
          cpu::scale_row(compute, element(y, at), element(y, at), HxW, scale, shift);
        }
      }
    });
  }
  return {in_format(y, input.dtype(), output_format(input)), to_dtype(mean, stat),
          to_dtype(rstd, stat)};
}

namespace {

// One group of one sample: its two sums weighted by channel, then dx.
struct GroupBackward {
  DType compute;
  const Tensor &g, &x, &w;
  int64_t group, channels, HxW;

  // sums: [N * C][2], of dy and dy * (x - mean).
  void channel_sums(int64_t r, double mean, double* sums) const {
    for (int64_t k = 0; k < channels; ++k) {
      const int64_t row = r * channels + k;
      sums[row * 2] = sums[row * 2 + 1] = 0;
      cpu::gradient_sums_row(compute, element(g, row * HxW), element(x, row * HxW), HxW, mean,
                             sums + row * 2);
    }
  }
  void input_gradient(int64_t r, double mean, double rstd, const double* sums,
                      const Tensor& dx) const {
    double sum = 0, sum_x = 0;
    for (int64_t k = 0; k < channels; ++k) {
      const int64_t row = r * channels + k;
      const double weight = scale(r % group * channels + k);
      sum += weight * sums[row * 2];
      sum_x += weight * sums[row * 2 + 1];
    }
    const double n = double(channels * HxW);
    const double b = -rstd * rstd * rstd * sum_x / n, c = -rstd * sum / n - b * mean;
    for (int64_t k = 0; k < channels; ++k) {
      const int64_t at = (r * channels + k) * HxW;
      cpu::blend_row(compute, element(g, at), element(x, at), element(dx, at), HxW,
                     rstd * scale(r % group * channels + k), b, c);
    }
  }
  double scale(int64_t channel) const { return w.defined() ? w.data<double>()[channel] : 1.0; }
};

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(
    const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
    const Tensor& weight, int64_t N, int64_t C, int64_t HxW, int64_t group,
    std::array<bool, 3> mask) {
  const DType parameter = weight.defined() ? weight.dtype() : input.dtype();
  const DType compute = opmath(input.dtype());
  Tensor dx = mask[0] ? empty_tensor(input.sizes(), compute, input.device()) : Tensor();
  Tensor dw = mask[1] ? empty_tensor({C}, DType::Double, input.device()) : Tensor();
  Tensor db = mask[2] ? empty_tensor({C}, DType::Double, input.device()) : Tensor();
  if (!input.is_meta()) {
    const Tensor g = prepared(grad, compute), x = prepared(input, compute),
                 w = prepared(weight, DType::Double), m = prepared(mean, DType::Double),
                 s = prepared(rstd, DType::Double);
    const int64_t channels = C / group;
    const GroupBackward work{compute, g, x, w, group, channels, HxW};
    Tensor sums = empty_tensor({N * C, 2}, DType::Double);
    double* p = sums.data<double>();
    parallel_for(0, N * group, row_grain(channels * HxW), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        work.channel_sums(r, m.data<double>()[r], p);
        if (dx.defined()) work.input_gradient(r, m.data<double>()[r], s.data<double>()[r], p, dx);
      }
    });
    for (int64_t c = 0; c < C; ++c) {
      double weight_sum = 0, bias_sum = 0;
      for (int64_t i = 0; i < N; ++i) {
        bias_sum += p[(i * C + c) * 2];
        weight_sum += p[(i * C + c) * 2 + 1] * s.data<double>()[i * group + c / channels];
      }
      if (dw.defined()) dw.data<double>()[c] = weight_sum;
      if (db.defined()) db.data<double>()[c] = bias_sum;
    }
  }
  return {dx.defined() ? in_format(dx, input.dtype(), output_format(input)) : dx,
          dw.defined() ? to_dtype(dw, parameter) : dw, db.defined() ? to_dtype(db, parameter) : db};
}

}  // namespace rl::native
