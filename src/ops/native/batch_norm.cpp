// Batch norm, forward and backward. Row-major and channels-last inputs are worked on as they lie;
// 16-bit inputs are converted as a whole.
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/norm.h"
#include "kernels/iter/copy.h"
#include "kernels/iter/reduce.h"

namespace rl::native {
namespace {

char* element(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.data()) + i * t.itemsize();
}

// How channels lie in memory: [N][C][inner], inner == 1 for channels-last and for plain [N][C].
struct ChannelLayout {
  int64_t outer, channels, inner;
  bool last() const { return inner == 1; }
};

bool is_channels_last(const Tensor& t) {
  return (t.dim() == 4 && t.is_contiguous(MemoryFormat::ChannelsLast)) ||
         (t.dim() == 5 && t.is_contiguous(MemoryFormat::ChannelsLast3d));
}

ChannelLayout layout_of(const Tensor& t) {
  const int64_t c = t.size(1), per_channel = c ? t.numel() / c : 0;
  if (!t.is_contiguous() && is_channels_last(t)) return {per_channel, c, 1};
  return {t.size(0), c, t.size(0) ? per_channel / t.size(0) : 0};
}

// In the compute type, in a layout that layout_of knows.
Tensor prepared(const Tensor& t, DType compute, bool channels_last) {
  const bool right = channels_last ? is_channels_last(t) : t.is_contiguous();
  if (right && t.dtype() == compute) return t;
  const MemoryFormat f = !channels_last   ? MemoryFormat::Contiguous
                         : t.dim() == 4 ? MemoryFormat::ChannelsLast
                                          : MemoryFormat::ChannelsLast3d;
  Tensor out = empty_format(t.sizes(), compute, t.device(), f);
  copy_tensor(out, t);
  return out;
}

Tensor vector_of(const Tensor& t, double missing, int64_t n) {  // double[n]
  if (t.defined()) return contiguous_tensor(to_dtype(t, DType::Double));
  return full_tensor({n}, Scalar(missing), DType::Double);
}

void check_vector(const char* name, const Tensor& t, int64_t features) {
  check(!t.defined() || t.numel() == features, name, " should contain ", features,
        " elements not ", t.defined() ? t.numel() : 0);
}

// f(first, count) over whole rows (channel c of sample n), or f over groups of rows of C columns.
template <class Row, class Columns>
void for_layout(const ChannelLayout& l, Row&& row, Columns&& columns) {
  if (l.outer * l.channels * l.inner == 0) return;
  if (l.last()) {
    parallel_for(0, l.outer, std::max<int64_t>(1, 16384 / l.channels),
                 [&](int64_t b, int64_t e) { columns(b * l.channels, e - b); });
    return;
  }
  parallel_for(0, l.outer * l.channels, std::max<int64_t>(1, 16384 / l.inner),
               [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) row(r * l.inner, r % l.channels);
  });
}

// y = x * scale[c] + shift[c]
void scale_channels(const Tensor& x, const Tensor& y, const Tensor& scale, const Tensor& shift) {
  const ChannelLayout l = layout_of(x);
  const DType d = x.dtype();
  const Tensor a = to_dtype(scale, d), b = to_dtype(shift, d);
  for_layout(
      l,
      [&](int64_t at, int64_t c) {
        cpu::scale_row(d, element(x, at), element(y, at), l.inner, scale.data<double>()[c],
                       shift.data<double>()[c]);
      },
      [&](int64_t at, int64_t rows) {
        cpu::scale_columns(d, element(x, at), element(y, at), rows, l.channels, a.data(),
                           b.data());
      });
}

void update_running(const Tensor& running, const Tensor& now, double momentum, double factor) {
  if (!running.defined()) return;
  Tensor r = contiguous_tensor(to_dtype(running, DType::Double));
  if (r.is_same(running)) r = clone_tensor(r);
  for (int64_t c = 0; c < r.numel(); ++c)
    r.data<double>()[c] =
        (1 - momentum) * r.data<double>()[c] + momentum * factor * now.data<double>()[c];
  copy_tensor(running, r);
}

struct Statistics {
  Tensor mean, var;  // double[C]; var is the biased one
};

Statistics channel_statistics(const Tensor& x) {
  Statistics s{empty_tensor({x.size(1)}, DType::Double), empty_tensor({x.size(1)}, DType::Double)};
  cpu::ReduceAttrs attrs;
  attrs.correction = 0;
  uint64_t mask = (uint64_t(1) << x.dim()) - 1;
  mask &= ~uint64_t(2);
  run_reduction({cpu::ReduceOp::Var, x.dtype(), attrs}, x, mask, s.var, &s.mean);
  return s;
}

DType statistics_dtype(const Tensor& input, const Tensor& weight) {
  const bool mixed = is_reduced(input.dtype()) && weight.defined() &&
                     weight.dtype() == DType::Float;
  return mixed ? DType::Float : input.dtype();
}

void check_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const Tensor& running_mean, const Tensor& running_var, bool training) {
  check(input.dim() >= 2, "batch_norm: expected an input of at least 2 dimensions, but got ",
        input.sizes());
  const int64_t features = input.size(1);
  check(running_mean.defined() || training, "running_mean must be defined in evaluation mode");
  check_vector("running_mean", running_mean, features);
  check(running_var.defined() || training, "running_var must be defined in evaluation mode");
  check_vector("running_var", running_var, features);
  check_vector("weight", weight, features);
  check_vector("bias", bias, features);
  if (!is_floating(input.dtype()) || is_float8(input.dtype()))
    dtype_not_implemented("batch_norm", input.dtype());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(
    const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
    const Tensor& running_var, bool training, double momentum, double eps) {
  check_batch_norm(input, weight, bias, running_mean, running_var, training);
  const int64_t features = input.size(1);
  const DType compute = opmath(input.dtype());
  const DType stat = statistics_dtype(input, weight);
  const bool last = !input.is_contiguous() && is_channels_last(input);
  if (input.is_meta()) {
    const int64_t kept = training ? features : 0;
    return {empty_like_tensor(input, input.dtype()), empty_tensor({kept}, stat, input.device()),
            empty_tensor({kept}, stat, input.device())};
  }
  const Tensor x = prepared(input, compute, last);
  Statistics s;
  if (training) {
    s = channel_statistics(x);
    const double n = double(features ? x.numel() / features : 0);
    if (n > 0) {
      update_running(running_mean, s.mean, momentum, 1);
      update_running(running_var, s.var, momentum, n > 1 ? n / (n - 1) : NAN);
    }
  } else {
    s = {vector_of(running_mean, 0, features), vector_of(running_var, 1, features)};
  }
  const Tensor w = vector_of(weight, 1, features), b = vector_of(bias, 0, features);
  Tensor invstd = empty_tensor({features}, DType::Double);
  Tensor scale = empty_tensor({features}, DType::Double);
  Tensor shift = empty_tensor({features}, DType::Double);
  for (int64_t c = 0; c < features; ++c) {
    const double r = 1.0 / std::sqrt(s.var.data<double>()[c] + eps);
    invstd.data<double>()[c] = r;
    scale.data<double>()[c] = r * w.data<double>()[c];
    shift.data<double>()[c] =
        b.data<double>()[c] - s.mean.data<double>()[c] * scale.data<double>()[c];
  }
  Tensor y = x.is_same(input) ? empty_like_tensor(x, compute) : x;
  scale_channels(x, y, scale, shift);
  Tensor out = to_dtype(y, input.dtype());
  if (!training) return {out, empty_tensor({0}, stat), empty_tensor({0}, stat)};
  return {out, to_dtype(s.mean, stat), to_dtype(invstd, stat)};
}

namespace {

struct ChannelSums {
  Tensor dy, dy_x;  // double[C]: of dy and of dy * (x - mean)
};

ChannelSums channel_sums(const Tensor& g, const Tensor& x, const Tensor& mean) {
  const ChannelLayout l = layout_of(x);
  const int64_t pieces = std::clamp<int64_t>(l.outer * l.channels * l.inner / 65536, 1, 16);
  // [piece][2][C]; pieces cut the samples and depend on the shape alone.
  Tensor parts = full_tensor({pieces, 2, l.channels}, Scalar(0.0), DType::Double);
  parallel_for(0, pieces, 1, [&](int64_t from, int64_t to) {
    for (int64_t p = from; p < to; ++p) {
      double* sums = parts.data<double>() + p * 2 * l.channels;
      const int64_t n0 = l.outer * p / pieces, n1 = l.outer * (p + 1) / pieces;
      if (l.last()) {
        const int64_t at = n0 * l.channels;
        cpu::gradient_sums_columns(x.dtype(), element(g, at), element(x, at), n1 - n0, l.channels,
                                   mean.data<double>(), sums, sums + l.channels);
        continue;
      }
      for (int64_t r = n0 * l.channels; r < n1 * l.channels; ++r) {
        const int64_t c = r % l.channels;
        double pair[2] = {0, 0};
        cpu::gradient_sums_row(x.dtype(), element(g, r * l.inner), element(x, r * l.inner),
                               l.inner, mean.data<double>()[c], pair);
        sums[c] += pair[0];
        sums[l.channels + c] += pair[1];
      }
    }
  });
  Tensor total = full_tensor({2, l.channels}, Scalar(0.0), DType::Double);
  for (int64_t p = 0; p < pieces; ++p)
    for (int64_t i = 0; i < 2 * l.channels; ++i)
      total.data<double>()[i] += parts.data<double>()[p * 2 * l.channels + i];
  return {alias(total, {l.channels}, {1}, 0), alias(total, {l.channels}, {1}, l.channels)};
}

// dx = dy * a[c] + x * b[c] + c[c]
void blend_channels(const Tensor& g, const Tensor& x, const Tensor& dx,
                    const Tensor& coefficients) {
  const ChannelLayout l = layout_of(x);
  const DType d = x.dtype();
  const Tensor typed = to_dtype(coefficients, d);
  const double* k = coefficients.data<double>();
  for_layout(
      l,
      [&](int64_t at, int64_t c) {
        cpu::blend_row(d, element(g, at), element(x, at), element(dx, at), l.inner, k[c],
                       k[l.channels + c], k[2 * l.channels + c]);
      },
      [&](int64_t at, int64_t rows) {
        cpu::blend_columns(d, element(g, at), element(x, at), element(dx, at), rows, l.channels,
                           element(typed, 0), element(typed, l.channels),
                           element(typed, 2 * l.channels));
      });
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(
    const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& running_mean,
    const Tensor& running_var, const Tensor& save_mean, const Tensor& save_invstd, bool train,
    double eps, std::array<bool, 3> mask) {
  const int64_t features = input.size(1);
  const DType compute = opmath(input.dtype());
  const DType parameter = weight.defined() ? weight.dtype() : input.dtype();
  const Device device = input.device();
  if (input.is_meta())
    return {mask[0] ? empty_like_tensor(input, input.dtype()) : Tensor(),
            mask[1] ? empty_tensor({features}, parameter, device) : Tensor(),
            mask[2] ? empty_tensor({features}, parameter, device) : Tensor()};
  const bool last = !input.is_contiguous() && is_channels_last(input);
  const Tensor x = prepared(input, compute, last), g = prepared(grad, compute, last);
  const Tensor mean = vector_of(train ? save_mean : running_mean, 0, features);
  Tensor invstd = vector_of(train ? save_invstd : running_var, 1, features);
  if (!train) {
    invstd = clone_tensor(invstd);
    for (int64_t c = 0; c < features; ++c)
      invstd.data<double>()[c] = 1.0 / std::sqrt(invstd.data<double>()[c] + eps);
  }
  const ChannelSums sums = channel_sums(g, x, mean);
  const double n = double(features ? x.numel() / features : 0);
  const Tensor w = vector_of(weight, 1, features);
  Tensor dx;
  if (mask[0]) {
    Tensor k = full_tensor({3, features}, Scalar(0.0), DType::Double);
    double *a = k.data<double>(), *b = a + features, *c = b + features;
    for (int64_t i = 0; i < features; ++i) {
      const double r = invstd.data<double>()[i];
      a[i] = w.data<double>()[i] * r;
      if (!train) continue;
      b[i] = -a[i] * r * r * sums.dy_x.data<double>()[i] / n;
      c[i] = -a[i] * sums.dy.data<double>()[i] / n - b[i] * mean.data<double>()[i];
    }
    dx = empty_like_tensor(x, compute);
    blend_channels(g, x, dx, k);
    dx = to_dtype(dx, input.dtype());
  }
  Tensor dw, db;
  if (mask[1]) {
    dw = empty_tensor({features}, DType::Double);
    for (int64_t c = 0; c < features; ++c)
      dw.data<double>()[c] = sums.dy_x.data<double>()[c] * invstd.data<double>()[c];
    dw = to_dtype(dw, parameter);
  }
  if (mask[2]) db = cast_tensor(sums.dy, parameter);
  return {dx, dw, db};
}

}  // namespace rl::native
