// See ops/index_tools.h.
#include "ops/index_tools.h"

#include <cmath>
#include <limits>

#include "kernels/iter/copy.h"

namespace rl {

Tensor index_numbers(const Tensor& index) {
  check_implemented(!index.is_meta(), "an index on the meta device has no values to use");
  check_implemented(index->kind != ImplKind::Batched, "the indices of one example of a vmap");
  return native::contiguous(native::to_dtype(index, DType::Int64));
}

int64_t first_outside(const int64_t* p, int64_t n, int64_t low, int64_t high) {
  if (n == 0) return -1;
  const Span s = span_of(p, n);
  if (s.low >= low && s.high < high) return -1;
  for (int64_t i = 0; i < n; ++i)
    if (p[i] < low || p[i] >= high) return i;
  return -1;
}

Tensor wrapped_indices(const Tensor& numbers, int64_t size) {
  const int64_t n = numbers.numel();
  const int64_t* p = numbers.data<int64_t>();
  if (n == 0 || span_of(p, n).low >= 0) return numbers;
  Tensor out = empty_tensor(numbers.sizes(), DType::Int64);
  int64_t* q = out.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) q[i] = p[i] < 0 ? p[i] + size : p[i];
  return out;
}

std::vector<int64_t> all_offsets(IntRef sizes, IntRef strides) {
  std::vector<int64_t> out{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    next.reserve(out.size() * size_t(sizes[d]));
    for (int64_t o : out)
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(o + i * strides[d]);
    out = std::move(next);
  }
  return out;
}

namespace {
// 1: dimension a is slower than b and should come after it; -1: the right order; 0: no telling.
int compare_dims(size_t a, size_t b, IntRef sizes, const std::vector<Dims>& strides) {
  for (const Dims& s : strides) {
    if (s[a] == 0 || s[b] == 0) continue;
    if (s[a] != s[b]) return s[a] < s[b] ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}
}  // namespace

Dims order_of_dims(IntRef sizes, const std::vector<Dims>& strides) {
  Dims order;
  for (size_t d = sizes.size(); d-- > 0;) order.push_back(int64_t(d));
  for (size_t i = 1; i < order.size(); ++i) {
    size_t at = i;
    for (size_t j = i; j-- > 0;) {
      const int c = compare_dims(size_t(order[j]), size_t(order[at]), sizes, strides);
      if (c < 0) break;
      if (c == 0) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  return order;
}

Dims strides_in_order(IntRef sizes, const Dims& order) {
  Dims out(sizes.size());
  int64_t step = 1;
  for (int64_t d : order) {
    out[size_t(d)] = step;
    step *= sizes[size_t(d)];
  }
  return out;
}

Tensor row_major_clone(const Tensor& t) {
  Tensor out = empty_tensor(t.sizes(), t.dtype(), t.device());
  native::copy_into(out, t);
  return out;
}

Tensor preserving_clone(const Tensor& t) {
  Tensor out = empty_like_tensor(t, t.dtype());
  native::copy_into(out, t);
  return out;
}

const char* cpp_type_name(DType d) {
  switch (d) {
    case DType::Float: return "float";
    case DType::Double: return "double";
    case DType::Half: return "c10::Half";
    case DType::BFloat16: return "c10::BFloat16";
    case DType::Int64: return "long int";
    case DType::Int32: return "int";
    case DType::Int16: return "short int";
    case DType::Int8: return "signed char";
    case DType::UInt8: return "unsigned char";
    case DType::Bool: return "bool";
    case DType::ComplexFloat: return "c10::complex<float>";
    case DType::ComplexDouble: return "c10::complex<double>";
    default: return scalar_type_name(d);
  }
}

namespace {
const char* overflow_name(DType d) {
  switch (d) {
    case DType::Int64: return "int64_t";
    case DType::Int16: return "int16_t";
    case DType::Int8: return "int8_t";
    case DType::UInt8: return "uint8_t";
    case DType::Half: return "at::Half";
    case DType::BFloat16: return "at::BFloat16";
    default: return cpp_type_name(d);
  }
}

bool fits(const Scalar& v, DType d) {
  if (v.is_complex() && !is_complex(d) && v.to_complex().imag() != 0) return false;
  const double x = v.to_double();
  auto within = [&](double low, double high) { return x >= low && x <= high; };
  switch (d) {
    // -255..255: a negative number may wrap into an unsigned type
    case DType::UInt8: return within(-255.0, 255.0);
    case DType::Int8: return within(-128.0, 127.0);
    case DType::Int16: return within(-32768.0, 32767.0);
    case DType::Int32: return within(-2147483648.0, 2147483647.0);
    case DType::Int64: return v.is_integral() || within(-0x1p63, 0x1p63);
    case DType::Half: return !std::isfinite(x) || std::fabs(x) <= 65504.0;
    case DType::BFloat16: return !std::isfinite(x) || std::fabs(x) <= 3.3895313892515355e38;
    case DType::Float: case DType::ComplexFloat:
      return !std::isfinite(x) || std::fabs(x) <= double(std::numeric_limits<float>::max());
    default: return true;
  }
}
}  // namespace

void check_overflow(const Scalar& value, DType dtype) {
  check(fits(value, dtype), "value cannot be converted to type ", overflow_name(dtype),
        " without overflow");
}

}  // namespace rl
