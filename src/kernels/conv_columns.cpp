// See conv_columns.h. For one image and group, the column matrix has a row for each (input channel,
// kernel position) and a column for each output position; then
//   dst = weight @ columns,  columns' = weight^T @ diff_dst,  diff_weight += diff_dst @ columns^T.
#include "kernels/conv_columns.h"

#include <cstring>
#include <memory>

#include "base/parallel.h"
#include "kernels/gemm.h"

namespace rl::columns {
namespace {

using onednn::Conv;

int64_t product(const int64_t* size, int n) {
  int64_t p = 1;
  for (int i = 0; i < n; ++i) p *= size[i];
  return p;
}

struct Shape {
  const Conv& p;
  int64_t in_area, out_area, taps, in_group, out_group, rows;

  explicit Shape(const Conv& c)
      : p(c), in_area(product(c.in, c.spatial)), out_area(product(c.out, c.spatial)),
        taps(product(c.kernel, c.spatial)), in_group(c.in_channels / c.groups),
        out_group(c.out_channels / c.groups), rows(in_group * taps) {}

  // The rows of the column matrix follow the memory order of the weight.
  int64_t channel(int64_t row) const { return p.weight_last ? row % in_group : row / taps; }
  int64_t tap(int64_t row) const { return p.weight_last ? row / in_group : row % taps; }
  // Elements from the start of src to (n, first channel of g), and between channels/positions.
  int64_t src_start(int64_t n, int64_t g) const {
    return n * p.in_channels * in_area + g * in_group * (p.src_last ? 1 : in_area);
  }
  int64_t src_channel() const { return p.src_last ? 1 : in_area; }
  int64_t src_position() const { return p.src_last ? p.in_channels : 1; }
  // dst of one image and group as an (out_group, out_area) matrix.
  GemmOperand dst(const void* data, int64_t n, int64_t g, int64_t item) const {
    const int64_t start =
        n * p.out_channels * out_area + g * out_group * (p.dst_last ? 1 : out_area);
    const char* at = static_cast<const char*>(data) + start * item;
    return p.dst_last ? GemmOperand{at, 1, p.out_channels, 0} : GemmOperand{at, out_area, 1, 0};
  }
  GemmOperand weight(const void* data, int64_t g, int64_t item) const {
    return {static_cast<const char*>(data) + g * out_group * rows * item, rows, 1, 0};
  }
};

// Calls f(column, position in the image or -1) along one row of the column matrix.
template <class F>
void walk_row(const Shape& s, int64_t row, F&& f) {
  const Conv& p = s.p;
  int64_t offset[3] = {}, tap = s.tap(row);
  for (int i = p.spatial - 1; i >= 0; --i) {
    offset[i] = tap % p.kernel[i] * p.dilation[i] - p.padding[i];
    tap /= p.kernel[i];
  }
  int64_t out[3] = {};
  for (int64_t column = 0; column < s.out_area; ++column) {
    int64_t position = 0;
    for (int i = 0; i < p.spatial; ++i) {
      const int64_t x = out[i] * p.stride[i] + offset[i];
      if (x < 0 || x >= p.in[i]) {
        position = -1;
        break;
      }
      position = position * p.in[i] + x;
    }
    f(column, position);
    for (int i = p.spatial - 1; i >= 0 && ++out[i] == p.out[i]; --i) out[i] = 0;
  }
}

template <class T>
void gather_columns(const Shape& s, const T* src, T* columns) {
  parallel_for(0, s.rows, 1 + 16384 / (s.out_area + 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* from = src + s.channel(row) * s.src_channel();
      T* to = columns + row * s.out_area;
      const int64_t step = s.src_position();
      walk_row(s, row, [&](int64_t column, int64_t position) {
        to[column] = position < 0 ? T(0) : from[position * step];
      });
    }
  });
}

// The rows of one channel are added by one thread, in order.
template <class T>
void scatter_columns(const Shape& s, const T* columns, T* src) {
  parallel_for(0, s.in_group, 1 + 16384 / (s.taps * s.out_area + 1),
               [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      for (int64_t tap = 0; tap < s.taps; ++tap) {
        const int64_t row = s.p.weight_last ? tap * s.in_group + channel : channel * s.taps + tap;
        const T* from = columns + row * s.out_area;
        T* to = src + channel * s.src_channel();
        const int64_t step = s.src_position();
        walk_row(s, row, [&](int64_t column, int64_t position) {
          if (position >= 0) to[position * step] += from[column];
        });
      }
    }
  });
}

GemmProblem problem(int64_t m, int64_t n, int64_t k, GemmOperand a, GemmOperand b, GemmOperand c) {
  GemmProblem q;
  q.m = m, q.n = n, q.k = k;
  q.a = a, q.b = b, q.c = c;
  return q;
}
GemmOperand transposed(GemmOperand x) { return {x.data, x.col, x.row, x.batch}; }

template <class F>
void each_group(const Conv& p, F&& f) {
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t g = 0; g < p.groups; ++g) f(n, g);
}

using Types = TypeList<float, double, cfloat, cdouble, int64_t, int32_t, int16_t, int8_t, uint8_t>;

}  // namespace

void forward(DType dtype, const Conv& p, const void* src, const void* weight, void* dst) {
  visit(Types{}, dtype, "convolution", [&]<class T>() {
    const Shape s(p);
    const std::unique_ptr<T[]> buffer(new T[s.rows * s.out_area]);
    const GemmOperand columns{buffer.get(), s.out_area, 1, 0};
    each_group(p, [&](int64_t n, int64_t g) {
      gather_columns(s, static_cast<const T*>(src) + s.src_start(n, g), buffer.get());
      gemm(dtype, problem(s.out_group, s.out_area, s.rows, s.weight(weight, g, sizeof(T)), columns,
                          s.dst(dst, n, g, sizeof(T))));
    });
  });
}

void backward_data(DType dtype, const Conv& p, const void* diff_dst, const void* weight,
                   void* diff_src) {
  visit(Types{}, dtype, "convolution", [&]<class T>() {
    const Shape s(p);
    const std::unique_ptr<T[]> buffer(new T[s.rows * s.out_area]);
    const GemmOperand columns{buffer.get(), s.out_area, 1, 0};
    std::memset(diff_src, 0, p.n * p.in_channels * s.in_area * sizeof(T));
    each_group(p, [&](int64_t n, int64_t g) {
      gemm(dtype, problem(s.rows, s.out_area, s.out_group,
                          transposed(s.weight(weight, g, sizeof(T))),
                          s.dst(diff_dst, n, g, sizeof(T)), columns));
      scatter_columns(s, buffer.get(), static_cast<T*>(diff_src) + s.src_start(n, g));
    });
  });
}

void backward_weights(DType dtype, const Conv& p, const void* src, const void* diff_dst,
                      void* diff_weight) {
  visit(Types{}, dtype, "convolution", [&]<class T>() {
    const Shape s(p);
    const std::unique_ptr<T[]> buffer(new T[s.rows * s.out_area]);
    const GemmOperand columns{buffer.get(), s.out_area, 1, 0};
    std::memset(diff_weight, 0, p.out_channels * s.rows * sizeof(T));
    each_group(p, [&](int64_t n, int64_t g) {
      gather_columns(s, static_cast<const T*>(src) + s.src_start(n, g), buffer.get());
      GemmProblem q = problem(s.out_group, s.rows, s.out_area, s.dst(diff_dst, n, g, sizeof(T)),
                              transposed(columns), s.weight(diff_weight, g, sizeof(T)));
      q.beta = 1;
      gemm(dtype, q);
    });
  });
}

}  // namespace rl::columns
