// The ordered list of convolution kernels; see conv.h.
#include "kernels/conv.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/long_work.h"
#include "base/parallel.h"
#include "kernels/conv_columns.h"
#include "kernels/cpu/tiles.h"

namespace rl {
namespace {

using Buffer = std::unique_ptr<char[]>;

struct Counts {
  int64_t src, weight, dst;
};

Counts counts(const Conv& p) {
  Counts c{p.n * p.in_channels, p.in_channels / p.groups * p.out_channels, p.n * p.out_channels};
  for (int i = 0; i < p.spatial; ++i) {
    c.src *= p.in[i];
    c.weight *= p.kernel[i];
    c.dst *= p.out[i];
  }
  return c;
}

bool is_long(const Conv& p, const Counts& c) {
  const double outputs = double(std::max<int64_t>(p.out_channels, 1));
  return double(c.dst) * double(c.weight) / outputs > kLongWork;
}

bool set_type(DType dtype, Conv& p) {
  switch (dtype) {
    case DType::Float: p.type = onednn::Type::f32; return true;
    case DType::BFloat16: p.type = onednn::Type::bf16; return true;
    case DType::Half: p.type = onednn::Type::f16; return true;
    default: return false;
  }
}

bool is_half(DType dtype) { return dtype == DType::Half || dtype == DType::BFloat16; }

Buffer to_float(DType dtype, const void* from, int64_t n) {
  if (!from) return nullptr;
  Buffer buffer(new char[n * 4]);
  cpu::convert(buffer.get(), DType::Float, from, dtype, n);
  return buffer;
}

// The ordinary convolution whose data gradient a transposed one is.
Conv ordinary(Conv p) {
  if (!p.transposed) return p;
  p.transposed = false;
  std::swap(p.src_last, p.dst_last);
  std::swap(p.in_channels, p.out_channels);
  std::swap(p.in, p.out);
  return p;
}

template <class T>
void add_bias(const Conv& p, int64_t area, const T* bias, T* dst) {
  parallel_for(0, p.n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* image = dst + n * p.out_channels * area;
      for (int64_t i = 0; i < p.out_channels * area; ++i) {
        image[i] += bias[p.dst_last ? i % p.out_channels : i / area];
      }
    }
  });
}

using BiasTypes =
    TypeList<float, double, cfloat, cdouble, int64_t, int32_t, int16_t, int8_t, uint8_t>;

}  // namespace

void conv_forward(DType dtype, Conv p, const void* src, const void* weight, const void* bias,
                  void* dst) {
  const Counts c = counts(p);
  if (c.dst == 0) return;
  const LongWork others_may_run(is_long(p, c));
  if (set_type(dtype, p) && onednn::conv_forward(p, src, weight, bias, dst)) return;
  if (is_half(dtype)) {
    const Buffer s = to_float(dtype, src, c.src), w = to_float(dtype, weight, c.weight);
    const Buffer b = to_float(dtype, bias, p.out_channels), d(new char[c.dst * 4]);
    conv_forward(DType::Float, p, s.get(), w.get(), b.get(), d.get());
    cpu::convert(dst, dtype, d.get(), DType::Float, c.dst);
    return;
  }
  if (p.transposed) columns::backward_data(dtype, ordinary(p), src, weight, dst);
  else columns::forward(dtype, p, src, weight, dst);
  if (!bias) return;
  visit(BiasTypes{}, dtype, "convolution", [&]<class T>() {
    add_bias(p, c.dst / (p.n * p.out_channels), static_cast<const T*>(bias), static_cast<T*>(dst));
  });
}

void conv_backward_data(DType dtype, Conv p, const void* diff_dst, const void* weight,
                        void* diff_src) {
  const Counts c = counts(p);
  if (c.src == 0) return;
  const LongWork others_may_run(is_long(p, c));
  if (c.dst > 0 && set_type(dtype, p) &&
      onednn::conv_backward_data(p, diff_dst, weight, diff_src)) {
    return;
  }
  if (is_half(dtype)) {
    const Buffer d = to_float(dtype, diff_dst, c.dst), w = to_float(dtype, weight, c.weight);
    const Buffer s(new char[c.src * 4]);
    conv_backward_data(DType::Float, p, d.get(), w.get(), s.get());
    cpu::convert(diff_src, dtype, s.get(), DType::Float, c.src);
    return;
  }
  if (p.transposed) columns::forward(dtype, ordinary(p), diff_dst, weight, diff_src);
  else columns::backward_data(dtype, p, diff_dst, weight, diff_src);
}

void conv_backward_weights(DType dtype, Conv p, const void* src, const void* diff_dst,
                           void* diff_weight) {
  const Counts c = counts(p);
  if (c.weight == 0) return;
  const LongWork others_may_run(is_long(p, c));
  if (c.dst > 0 && c.src > 0 && set_type(dtype, p) &&
      onednn::conv_backward_weights(p, src, diff_dst, diff_weight, nullptr)) {
    return;
  }
  if (is_half(dtype)) {
    const Buffer s = to_float(dtype, src, c.src), d = to_float(dtype, diff_dst, c.dst);
    const Buffer w(new char[c.weight * 4]);
    conv_backward_weights(DType::Float, p, s.get(), d.get(), w.get());
    cpu::convert(diff_weight, dtype, w.get(), DType::Float, c.weight);
    return;
  }
  if (p.transposed) columns::backward_weights(dtype, ordinary(p), diff_dst, src, diff_weight);
  else columns::backward_weights(dtype, p, src, diff_dst, diff_weight);
}

void conv_backward_bias(DType dtype, const Conv& p, const void* diff_dst, void* diff_bias) {
  const int64_t images = p.n, channels = p.out_channels;
  const int64_t area = images * channels == 0 ? 0 : counts(p).dst / (images * channels);
  if (is_half(dtype)) {
    const Buffer d = to_float(dtype, diff_dst, images * channels * area);
    const Buffer b(new char[channels * 4]);
    conv_backward_bias(DType::Float, p, d.get(), b.get());
    cpu::convert(diff_bias, dtype, b.get(), DType::Float, channels);
    return;
  }
  visit(TypeList<float, double, cfloat, cdouble>{}, dtype, "convolution", [&]<class T>() {
    const T* from = static_cast<const T*>(diff_dst);
    T* to = static_cast<T*>(diff_bias);
    const int64_t grain = 1 + 32768 / (images * area + 1);
    parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
      std::fill(to + begin, to + end, T(0));
      for (int64_t n = 0; n < images; ++n) {
        const T* image = from + n * channels * area;
        if (p.dst_last) {
          for (int64_t x = 0; x < area; ++x)
            for (int64_t c = begin; c < end; ++c) to[c] += image[x * channels + c];
          continue;
        }
        for (int64_t c = begin; c < end; ++c) {
          T sum[8] = {};  // several sums: shorter chains, and less rounding
          int64_t x = 0;
          for (; x + 8 <= area; x += 8)
            for (int i = 0; i < 8; ++i) sum[i] += image[c * area + x + i];
          for (; x < area; ++x) sum[0] += image[c * area + x];
          for (int i = 1; i < 8; ++i) sum[0] += sum[i];
          to[c] += sum[0];
        }
      }
    });
  });
}

}  // namespace rl
