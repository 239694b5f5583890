// Folding after V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction" (Intel, 2009), with the constants for the bit-reflected polynomial; the rest, and
// processors without the instruction, by tables of eight bytes at a time.
#include "serialize/crc32.h"

#include <immintrin.h>

#include <array>
#include <cstring>

namespace rl::serialize {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xEDB88320u : 0);
    t[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; ++i)
    for (int k = 1; k < 8; ++k) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 255];
  return t;
}
constexpr Tables kTables = make_tables();

// `c` is the register, that is, the complement of the checksum.
uint32_t by_tables(const uint8_t* p, size_t n, uint32_t c) {
  for (; n >= 8; p += 8, n -= 8) {
    uint32_t lo, hi;
    std::memcpy(&lo, p, 4);
    std::memcpy(&hi, p + 4, 4);
    lo ^= c;
    c = kTables[7][lo & 255] ^ kTables[6][lo >> 8 & 255] ^ kTables[5][lo >> 16 & 255] ^
        kTables[4][lo >> 24] ^ kTables[3][hi & 255] ^ kTables[2][hi >> 8 & 255] ^
        kTables[1][hi >> 16 & 255] ^ kTables[0][hi >> 24];
  }
  for (; n; ++p, --n) c = (c >> 8) ^ kTables[0][(c ^ *p) & 255];
  return c;
}

[[gnu::target("pclmul,sse4.1")]] inline __m128i fold(__m128i x, __m128i k, __m128i next) {
  __m128i lo = _mm_clmulepi64_si128(x, k, 0x00);
  __m128i hi = _mm_clmulepi64_si128(x, k, 0x11);
  return _mm_xor_si128(_mm_xor_si128(lo, hi), next);
}

inline __m128i load(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

// From 128 bits to the 32-bit register: two folds, then Barrett's reduction.
[[gnu::target("pclmul,sse4.1")]] uint32_t reduce(__m128i x) {
  const __m128i k34 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  const __m128i k5 = _mm_set_epi64x(0, 0x0163cd6124);
  const __m128i poly = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  const __m128i mask = _mm_setr_epi32(~0, 0, ~0, 0);
  x = _mm_xor_si128(_mm_clmulepi64_si128(x, k34, 0x10), _mm_srli_si128(x, 8));
  __m128i high = _mm_srli_si128(x, 4);
  x = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(x, mask), k5, 0x00), high);
  __m128i t = _mm_clmulepi64_si128(_mm_and_si128(x, mask), poly, 0x10);
  t = _mm_clmulepi64_si128(_mm_and_si128(t, mask), poly, 0x00);
  return uint32_t(_mm_extract_epi32(_mm_xor_si128(t, x), 1));
}

// `n` is a multiple of 16 and at least 64.
[[gnu::target("pclmul,sse4.1")]] uint32_t by_folding(const uint8_t* p, size_t n, uint32_t c) {
  const __m128i k12 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i k34 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i x0 = _mm_xor_si128(load(p), _mm_cvtsi32_si128(int(c)));
  __m128i x1 = load(p + 16), x2 = load(p + 32), x3 = load(p + 48);
  for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
    x0 = fold(x0, k12, load(p));
    x1 = fold(x1, k12, load(p + 16));
    x2 = fold(x2, k12, load(p + 32));
    x3 = fold(x3, k12, load(p + 48));
  }
  x0 = fold(x0, k34, x1);
  x0 = fold(x0, k34, x2);
  x0 = fold(x0, k34, x3);
  for (; n >= 16; p += 16, n -= 16) x0 = fold(x0, k34, load(p));
  return reduce(x0);
}

[[gnu::target("vpclmulqdq,pclmul,avx2")]] inline __m256i fold2(__m256i x, __m256i k,
                                                                const uint8_t* next) {
  __m256i lo = _mm256_clmulepi64_epi128(x, k, 0x00);
  __m256i hi = _mm256_clmulepi64_epi128(x, k, 0x11);
  __m256i n = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(next));
  return _mm256_xor_si256(_mm256_xor_si256(lo, hi), n);
}

// Two lanes at a time over 128 bytes; `n` is a multiple of 16 and at least 256.
[[gnu::target("vpclmulqdq,pclmul,avx2")]] uint32_t by_wide_folding(const uint8_t* p, size_t n,
                                                                    uint32_t c) {
  const __m256i k = _mm256_set_epi64x(0x014a7fe880, 0x01e88ef372, 0x014a7fe880, 0x01e88ef372);
  __m256i x[4];
  for (int i = 0; i < 4; ++i)
    x[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * i));
  x[0] = _mm256_xor_si256(x[0], _mm256_zextsi128_si256(_mm_cvtsi32_si128(int(c))));
  for (p += 128, n -= 128; n >= 128; p += 128, n -= 128)
    for (int i = 0; i < 4; ++i) x[i] = fold2(x[i], k, p + 32 * i);
  const __m128i k34 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i y = _mm256_castsi256_si128(x[0]);
  y = fold(y, k34, _mm256_extracti128_si256(x[0], 1));
  for (int i = 1; i < 4; ++i) {
    y = fold(y, k34, _mm256_castsi256_si128(x[i]));
    y = fold(y, k34, _mm256_extracti128_si256(x[i], 1));
  }
  for (; n >= 16; p += 16, n -= 16) y = fold(y, k34, load(p));
  return reduce(y);
}

// a * b modulo the polynomial; bit 31 is x^0.
uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ (b & 1 ? 0xEDB88320u : 0);
  }
  return product;
}

}  // namespace

uint32_t crc32_combine(uint32_t first, uint32_t second, uint64_t n) {
  // Appending n bytes multiplies by x^(8n); that power comes from squares of x^8.
  uint32_t power = 1u << 23;
  for (; n; n >>= 1, power = multiply(power, power))
    if (n & 1) first = multiply(first, power);
  return first ^ second;
}

uint32_t crc32(const void* data, size_t n, uint32_t seed) {
  static const bool fast = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  auto p = static_cast<const uint8_t*>(data);
  uint32_t c = ~seed;
  static const bool wide = fast && __builtin_cpu_supports("vpclmulqdq") &&
                           __builtin_cpu_supports("avx2");
  if (fast && n >= 64) {
    size_t whole = n & ~size_t(15);
    c = wide && n >= 256 ? by_wide_folding(p, whole, c) : by_folding(p, whole, c);
    p += whole;
    n -= whole;
  }
  return ~by_tables(p, n, c);
}

}  // namespace rl::serialize
