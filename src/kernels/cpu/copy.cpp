// Block transposes, streaming copies and sequences (see copy.h).
#include "kernels/cpu/copy.h"

#include <cstring>

#include "kernels/cpu/vec.h"

namespace rl::cpu::RL_ISA {
namespace {

struct alignas(8) Bytes16 {
  uint64_t a, b;
};

constexpr int kBlock = 16;

// A block passes through a small buffer: every cache line of both sides is touched just once, so
// strides of a power of two cost no conflict misses.
template <class T>
void transpose_block(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                     int64_t rows, int64_t columns) {
  T block[kBlock][kBlock];
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(block[i], src + i * src_stride, size_t(columns) * sizeof(T));
  for (int64_t j = 0; j < columns; ++j) {
    T line[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) line[i] = block[i][j];
    std::memcpy(dst + j * dst_stride, line, size_t(rows) * sizeof(T));
  }
}

template <class T>
void transpose_full_block(char* dst, int64_t dst_stride, const char* src, int64_t src_stride) {
  T block[kBlock][kBlock];
  for (int i = 0; i < kBlock; ++i) std::memcpy(block[i], src + i * src_stride, sizeof(block[i]));
  for (int j = 0; j < kBlock; ++j) {
    T line[kBlock];
    for (int i = 0; i < kBlock; ++i) line[i] = block[i][j];
    std::memcpy(dst + j * dst_stride, line, sizeof(line));
  }
}

template <class T>
void transpose_as(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t rows,
                  int64_t columns) {
  constexpr int64_t item = sizeof(T);
  for (int64_t i = 0; i < rows; i += kBlock) {
    for (int64_t j = 0; j < columns; j += kBlock) {
      char* to = dst + j * dst_stride + i * item;
      const char* from = src + i * src_stride + j * item;
      const int64_t m = rows - i, n = columns - j;
      if (m >= kBlock && n >= kBlock) transpose_full_block<T>(to, dst_stride, from, src_stride);
      else transpose_block<T>(to, dst_stride, from, src_stride, m < kBlock ? m : kBlock,
                              n < kBlock ? n : kBlock);
    }
  }
}

template <class T>
constexpr bool is_complex_type = false;
template <class T>
constexpr bool is_complex_type<std::complex<T>> = true;

// Integers are computed in int64, reduced floats in float, so is PyTorch's arange.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, int64_t,
                                std::conditional_t<sizeof(T) <= 2, float, T>>;

template <class T>
void arange_as(void* out, const Scalar& start, const Scalar& step, int64_t first, int64_t n) {
  using W = Wide<T>;
  T* p = static_cast<T*>(out);
  const W a = start.to<W>(), d = step.to<W>();
  for (int64_t i = 0; i < n; ++i) p[i] = T(a + W(first + i) * d);
}

template <class T>
void linspace_as(void* out, const Scalar& start, const Scalar& end, int64_t steps, int64_t first,
                 int64_t n) {
  using W = std::conditional_t<std::is_integral_v<T>, double,
                               std::conditional_t<sizeof(T) <= 2, float, T>>;
  T* p = static_cast<T*>(out);
  const W a = start.to<W>(), b = end.to<W>();
  W d = W(0);
  if constexpr (is_complex_type<W>) {
    if (steps > 1) d = (b - a) / typename W::value_type(steps - 1);
  } else if (steps > 1) {
    d = (b - a) / W(steps - 1);
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = first + i;
    if constexpr (is_complex_type<W>) {
      using R = typename W::value_type;
      p[i] = T(at < steps / 2 || steps == 1 ? a + R(at) * d : b - R(steps - at - 1) * d);
    } else {
      p[i] = T(at < steps / 2 || steps == 1 ? a + W(at) * d : b - W(steps - at - 1) * d);
    }
  }
}

}  // namespace

void transpose(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int item,
               int64_t rows, int64_t columns) {
  switch (item) {
    case 1: return transpose_as<uint8_t>(dst, dst_stride, src, src_stride, rows, columns);
    case 2: return transpose_as<uint16_t>(dst, dst_stride, src, src_stride, rows, columns);
    case 4: return transpose_as<uint32_t>(dst, dst_stride, src, src_stride, rows, columns);
    case 8: return transpose_as<uint64_t>(dst, dst_stride, src, src_stride, rows, columns);
    default: return transpose_as<Bytes16>(dst, dst_stride, src, src_stride, rows, columns);
  }
}

void copy_streaming(void* dst, const void* src, int64_t bytes) {
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  const int64_t past = int64_t(reinterpret_cast<uintptr_t>(to) % kVecBytes);
  const int64_t head = (kVecBytes - past) % kVecBytes;
  if (bytes < head + kVecBytes) {
    std::memcpy(to, from, size_t(bytes));
    return;
  }
  std::memcpy(to, from, size_t(head));
  int64_t i = head;
  for (; i + kVecBytes <= bytes; i += kVecBytes) {
#if RL_VEC_BYTES == 64
    _mm512_stream_si512((__m512i*)(to + i), _mm512_loadu_si512(from + i));
#elif RL_VEC_BYTES == 32
    _mm256_stream_si256((__m256i*)(to + i), _mm256_loadu_si256((const __m256i*)(from + i)));
#else
    std::memcpy(to + i, from + i, kVecBytes);
#endif
  }
#if RL_VEC_BYTES >= 32
  _mm_sfence();
#endif
  std::memcpy(to + i, from + i, size_t(bytes - i));
}

void arange_run(void* out, DType d, const Scalar& start, const Scalar& step, int64_t first,
                int64_t n) {
  visit(TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t,
                 uint16_t, uint32_t, uint64_t>{},
        d, "arange_cpu", [&]<class T>() { arange_as<T>(out, start, step, first, n); });
}

void linspace_run(void* out, DType d, const Scalar& start, const Scalar& end, int64_t steps,
                  int64_t first, int64_t n) {
  visit(TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t, cfloat,
                 cdouble>{},
        d, "linspace_cpu",
        [&]<class T>() { linspace_as<T>(out, start, end, steps, first, n); });
}

}  // namespace rl::cpu::RL_ISA
