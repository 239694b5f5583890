// arange, linspace, logspace, eye, triangles and concatenation into given tensors (see copy.h).
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/tiles.h"
#include "kernels/iter/copy.h"

namespace rl {
namespace {

// Runs `f` on a row-major tensor of out's shape, which is `out` itself when it can be.
template <class F>
void on_contiguous(const Tensor& out, F&& f) {
  if (out.is_meta()) return;
  if (out.is_contiguous()) return f(out);
  Tensor t = empty_tensor(out.sizes(), out.dtype());
  f(t);
  copy_tensor(out, t);
}

char* address(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.data()) + element * t.itemsize();
}

}  // namespace

void arange_into(const Tensor& out, const Scalar& start, const Scalar& step) {
  on_contiguous(out, [&](const Tensor& t) {
    parallel_for(0, t.numel(), 32768, [&](int64_t b, int64_t e) {
      cpu::arange_run(address(t, b), t.dtype(), start, step, b, e - b);
    });
  });
}

void linspace_into(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps) {
  on_contiguous(out, [&](const Tensor& t) {
    parallel_for(0, t.numel(), 32768, [&](int64_t b, int64_t e) {
      cpu::linspace_run(address(t, b), t.dtype(), start, end, steps, b, e - b);
    });
  });
}

void logspace_into(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps,
                   double base) {
  on_contiguous(out, [&](const Tensor& t) {
    const bool complex = is_complex(t.dtype());
    const DType wide = complex ? DType::ComplexDouble : DType::Double;
    Tensor exponents = empty_tensor({t.numel()}, wide);
    const bool integers = is_integral(t.dtype());  // the ends are then integers, too
    linspace_into(exponents, integers ? Scalar(start.to_int()) : start,
                  integers ? Scalar(end.to_int()) : end, steps);
    for (int64_t i = 0; i < t.numel(); ++i) {
      if (complex) exponents.data<cdouble>()[i] = std::pow(base, exponents.data<cdouble>()[i]);
      else exponents.data<double>()[i] = std::pow(base, exponents.data<double>()[i]);
    }
    copy_tensor(alias(t, {t.numel()}, {1}, t.offset()), exponents);
  });
}

void eye_into(const Tensor& out) {
  zero_tensor(out);
  const int64_t n = std::min(out.size(0), out.size(1));
  if (n == 0) return;
  fill_tensor(alias(out, {n}, {out.stride(0) + out.stride(1)}, out.offset()), Scalar(1));
}

namespace {

// Copies columns [from(row), to(row)) of each row and zeroes the others.
template <class Range>
void keep_columns(const Tensor& out, const Tensor& self, Range range) {
  if (out.is_meta() || out.numel() == 0) return;
  const Tensor in = contiguous_tensor(self);
  on_contiguous(out, [&](const Tensor& t) {
    const int64_t rows = t.size(-2), columns = t.size(-1), item = t.itemsize();
    const int64_t grain = std::max<int64_t>(1, 32768 / columns);
    parallel_for(0, t.numel() / columns, grain, [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; ++r) {
        auto [from, to] = range(r % rows, columns);
        char* line = address(t, r * columns);
        const char* source = address(in, r * columns);
        if (from > 0) std::memset(line, 0, size_t(from * item));
        if (to > from && line != source)
          std::memcpy(line + from * item, source + from * item, size_t((to - from) * item));
        if (to < columns) std::memset(line + to * item, 0, size_t((columns - to) * item));
      }
    });
  });
}

int64_t clamp_to(int64_t v, int64_t high) { return std::min(std::max<int64_t>(v, 0), high); }

}  // namespace

void tril_into(const Tensor& out, const Tensor& self, int64_t diagonal) {
  keep_columns(out, self, [=](int64_t row, int64_t columns) {
    return std::pair<int64_t, int64_t>(0, clamp_to(row + diagonal + 1, columns));
  });
}

void triu_into(const Tensor& out, const Tensor& self, int64_t diagonal) {
  keep_columns(out, self, [=](int64_t row, int64_t columns) {
    return std::pair<int64_t, int64_t>(clamp_to(row + diagonal, columns), columns);
  });
}

namespace {

bool skipped(const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; }

// All row-major and of out's dtype: each is a block of bytes repeated for every outer index.
bool cat_blocks(const Tensor& out, TensorList tensors, int64_t dim) {
  if (!out.is_contiguous()) return false;
  for (const Tensor& t : tensors)
    if (!skipped(t) && (!t.is_contiguous() || t.dtype() != out.dtype())) return false;
  int64_t outer = 1, inner = out.itemsize();
  for (int64_t d = 0; d < dim; ++d) outer *= out.size(d);
  for (int64_t d = dim + 1; d < out.dim(); ++d) inner *= out.size(d);
  const int64_t row = out.size(dim) * inner;
  char* to = static_cast<char*>(out.data());
  if (outer == 1) {
    for (const Tensor& t : tensors) {
      if (skipped(t)) continue;
      const char* from = static_cast<const char*>(t.data());
      const int64_t bytes = t.nbytes();
      parallel_for(0, bytes, 128 << 10, [&](int64_t b, int64_t e) {
        std::memcpy(to + b, from + b, size_t(e - b));
      });
      to += bytes;
    }
    return true;
  }
  parallel_for(0, outer, std::max<int64_t>(1, (128 << 10) / std::max<int64_t>(row, 1)),
               [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) {
      char* at = to + r * row;
      for (const Tensor& t : tensors) {
        if (skipped(t)) continue;
        const int64_t bytes = t.size(dim) * inner;
        std::memcpy(at, static_cast<const char*>(t.data()) + r * bytes, size_t(bytes));
        at += bytes;
      }
    }
  });
  return true;
}

}  // namespace

void cat_into(const Tensor& out, TensorList tensors, int64_t dim) {
  if (out.is_meta() || out.numel() == 0) return;
  if (cat_blocks(out, tensors, dim)) return;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (skipped(t)) continue;
    Dims sizes(out.sizes());
    sizes[size_t(dim)] = t.size(dim);
    copy_tensor(alias(out, sizes, out.strides(), out.offset() + at * out.stride(dim)), t);
    at += t.size(dim);
  }
}

}  // namespace rl
