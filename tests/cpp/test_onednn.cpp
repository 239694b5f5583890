// The oneDNN provider against plain loops: strides, transposition, alpha/beta/bias, batches,
// convolution in 1 to 3 dimensions with groups, dilation, both layouts, and transposed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "kernels/cpu/onednn/provider.h"

using namespace rl::onednn;

namespace {

std::vector<float> numbers(int64_t n, unsigned seed) {
  std::vector<float> v(n);
  for (auto& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = float(seed >> 8) / float(1 << 24) - 0.5f;
  }
  return v;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "at " << i;
}

std::vector<float> plain_matmul(const MatMul& p, std::vector<float> c) {
  auto at = [](const Matrix& x, int64_t b, int64_t i, int64_t j) {
    return static_cast<const float*>(x.data)[b * x.batch + i * x.row + j * x.col];
  };
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k) sum += double(at(p.a, b, i, k)) * at(p.b, b, k, j);
        float& out = c[b * p.c.batch + i * p.c.row + j * p.c.col];
        double v = p.alpha * sum + (p.beta != 0 ? p.beta * out : 0);
        if (p.bias) v += static_cast<const float*>(p.bias)[j];
        if (p.post == Post::relu && v < 0) v = 0;
        out = float(v);
      }
    }
  }
  return c;
}

void try_matmul(MatMul p, int64_t a_size, int64_t b_size, int64_t c_size) {
  auto a = numbers(a_size, 1), b = numbers(b_size, 2), c = numbers(c_size, 3);
  p.a.data = a.data();
  p.b.data = b.data();
  const auto want = plain_matmul(p, c);
  p.c.data = c.data();
  ASSERT_TRUE(matmul(p));
  expect_near(c, want, 1e-4f);
}

TEST(OneDnnMatMul, TransposedOperands) {
  for (int mask = 0; mask < 4; ++mask) {
    for (auto [m, n, k] : {std::array<int64_t, 3>{5, 7, 9}, {1, 33, 17}, {40, 1, 8}, {64, 48, 1}}) {
      MatMul p;
      p.m = m, p.n = n, p.k = k;
      p.a = mask & 1 ? Matrix{nullptr, 1, m, 0} : Matrix{nullptr, k, 1, 0};
      p.b = mask & 2 ? Matrix{nullptr, 1, k, 0} : Matrix{nullptr, n, 1, 0};
      p.c = {nullptr, n, 1, 0};
      try_matmul(p, m * k, k * n, m * n);
    }
  }
}

TEST(OneDnnMatMul, AlphaBetaBiasRelu) {
  const auto bias = numbers(7, 9);
  MatMul p;
  p.m = 6, p.n = 7, p.k = 5;
  p.a = {nullptr, 5, 1, 0};
  p.b = {nullptr, 7, 1, 0};
  p.c = {nullptr, 7, 1, 0};
  for (float alpha : {1.0f, 0.25f, -2.0f}) {
    for (float beta : {0.0f, 1.0f, 0.5f}) {
      p.alpha = alpha, p.beta = beta;
      p.bias = nullptr, p.post = Post::none;
      try_matmul(p, 30, 35, 42);
      if (alpha != 1 && beta != 0) continue;
      p.bias = bias.data(), p.post = Post::relu;
      try_matmul(p, 30, 35, 42);
    }
  }
}

TEST(OneDnnMatMul, BatchesAndBroadcast) {
  MatMul p;
  p.batch = 4, p.m = 3, p.n = 5, p.k = 6;
  p.a = {nullptr, 6, 1, 18};
  p.b = {nullptr, 1, 6, 30};
  p.c = {nullptr, 5, 1, 15};
  try_matmul(p, 72, 120, 60);
  p.b.batch = 0;
  try_matmul(p, 72, 30, 60);
  p.a = {nullptr, 24, 1, 6};  // batch inside the rows, as attention heads have it
  try_matmul(p, 72, 30, 60);
}

TEST(OneDnnMatMul, DeclinesDoublyStridedMatrices) {
  std::vector<float> x(100), y(100), z(100);
  MatMul p;
  p.m = p.n = p.k = 3;
  p.a = {x.data(), 20, 2, 0};
  p.b = {y.data(), 3, 1, 0};
  p.c = {z.data(), 3, 1, 0};
  EXPECT_FALSE(matmul(p));
}

// Index of an element of a dense tensor (n, channels, spatial...).
struct Index {
  int64_t channels, size[3];
  bool last;
  int64_t operator()(int64_t n, int64_t c, const int64_t* x) const {
    const int64_t area = size[0] * size[1] * size[2];
    const int64_t at = (x[0] * size[1] + x[1]) * size[2] + x[2];
    return last ? (n * area + at) * channels + c : (n * channels + c) * area + at;
  }
  int64_t total(int64_t n) const { return n * channels * size[0] * size[1] * size[2]; }
};

struct Case {
  Conv p;
  Index src, dst, weight;
};

Case make_case(int spatial, int64_t n, int64_t ic, int64_t oc, int64_t groups, int64_t size,
               int64_t kernel, int64_t stride, int64_t dilation, bool last, bool transposed) {
  Case c;
  Conv& p = c.p;
  p.spatial = spatial;
  p.n = n, p.groups = groups, p.in_channels = ic, p.out_channels = oc;
  p.src_last = p.dst_last = p.weight_last = last;
  p.transposed = transposed;
  c.src = {ic, {1, 1, 1}, last};
  c.dst = {oc, {1, 1, 1}, last};
  c.weight = {(transposed ? oc : ic) / groups, {1, 1, 1}, last};
  for (int i = 0; i < spatial; ++i) {
    p.in[i] = size + i;
    p.kernel[i] = kernel;
    p.stride[i] = stride;
    p.dilation[i] = dilation;
    p.padding[i] = kernel / 2;
    const int64_t span = (kernel - 1) * dilation + 1;
    p.out[i] = transposed ? (p.in[i] - 1) * stride - 2 * p.padding[i] + span + (stride > 1)
                          : (p.in[i] + 2 * p.padding[i] - span) / stride + 1;
    c.src.size[i] = p.in[i];
    c.dst.size[i] = p.out[i];
    c.weight.size[i] = kernel;
  }
  return c;
}

// Calls f(source index, weight index, destination index, destination channel) for every product.
template <class F>
void each_product(const Case& c, F&& f) {
  const Conv& p = c.p;
  const Index& from = p.transposed ? c.dst : c.src;  // of the ordinary convolution
  const Index& to = p.transposed ? c.src : c.dst;
  const int64_t ic = from.channels / p.groups, oc = to.channels / p.groups;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t o = 0; o < to.channels; ++o)
      for (int64_t i = 0; i < ic; ++i)
        for (int64_t t = 0; t < to.size[0] * to.size[1] * to.size[2]; ++t)
          for (int64_t k = 0; k < c.weight.size[0] * c.weight.size[1] * c.weight.size[2]; ++k) {
            const int64_t y[3] = {t / (to.size[1] * to.size[2]), t / to.size[2] % to.size[1],
                                  t % to.size[2]};
            const int64_t w[3] = {k / (c.weight.size[1] * c.weight.size[2]),
                                  k / c.weight.size[2] % c.weight.size[1], k % c.weight.size[2]};
            int64_t x[3];
            bool inside = true;
            for (int d = 0; d < 3; ++d) {
              x[d] = d < p.spatial ? y[d] * p.stride[d] + w[d] * p.dilation[d] - p.padding[d] : 0;
              inside &= x[d] >= 0 && x[d] < from.size[d];
            }
            if (!inside) continue;
            const int64_t a = from(n, o / oc * ic + i, x), b = to(n, o, y);
            p.transposed ? f(b, c.weight(o, i, w), a) : f(a, c.weight(o, i, w), b);
          }
}

void try_conv(const Case& c) {
  const Conv& p = c.p;
  const int64_t weights = (p.transposed ? p.in_channels : p.out_channels);
  const auto src = numbers(c.src.total(p.n), 1), w = numbers(c.weight.total(weights), 2);
  const auto grad = numbers(c.dst.total(p.n), 3), bias = numbers(p.out_channels, 4);
  std::vector<float> dst(grad.size()), want_dst(grad.size()), dsrc(src.size()),
      want_dsrc(src.size()), dw(w.size()), want_dw(w.size());
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t o = 0; o < p.out_channels; ++o)
      for (int64_t a = 0; a < p.out[0]; ++a)
        for (int64_t b = 0; b < c.dst.size[1]; ++b)
          for (int64_t d = 0; d < c.dst.size[2]; ++d) {
            const int64_t x[3] = {a, b, d};
            want_dst[c.dst(n, o, x)] = bias[o];
          }
  each_product(c, [&](int64_t s, int64_t k, int64_t d) {
    want_dst[d] += src[s] * w[k];
    want_dsrc[s] += grad[d] * w[k];
    want_dw[k] += grad[d] * src[s];
  });
  ASSERT_TRUE(conv_forward(p, src.data(), w.data(), bias.data(), dst.data()));
  expect_near(dst, want_dst, 1e-4f);
  ASSERT_TRUE(conv_backward_data(p, grad.data(), w.data(), dsrc.data()));
  expect_near(dsrc, want_dsrc, 1e-4f);
  ASSERT_TRUE(conv_backward_weights(p, src.data(), grad.data(), dw.data(), nullptr));
  expect_near(dw, want_dw, 1e-3f);
}

TEST(OneDnnConv, AgainstPlainLoops) {
  for (bool last : {false, true}) {
    for (bool transposed : {false, true}) {
      SCOPED_TRACE(testing::Message() << "last " << last << " transposed " << transposed);
      try_conv(make_case(2, 2, 3, 8, 1, 7, 3, 1, 1, last, transposed));
      try_conv(make_case(2, 2, 16, 4, 1, 6, 3, 2, 1, last, transposed));
      try_conv(make_case(2, 1, 8, 12, 4, 9, 3, 1, 2, last, transposed));
      try_conv(make_case(2, 3, 8, 8, 8, 8, 5, 1, 1, last, transposed));
      try_conv(make_case(2, 2, 8, 16, 1, 5, 1, 1, 1, last, transposed));
      try_conv(make_case(1, 2, 6, 4, 2, 20, 3, 2, 1, last, transposed));
      try_conv(make_case(3, 1, 4, 6, 1, 5, 3, 1, 1, last, transposed));
    }
  }
}

}  // namespace
