// See sort.h. Short lines: introsort on (key, position) pairs. Long ones: a radix sort from the
// lowest byte up that passes over bytes in which all keys agree.
#include "kernels/sort.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace rl {
namespace {

template <class T>
struct Bits {
  using type = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
};

template <class T>
constexpr bool is_float_type = !std::is_integral_v<T>;

template <class T>
uint64_t key_of(T v) {
  using U = typename Bits<T>::type;
  constexpr U top = U(U(1) << (sizeof(T) * 8 - 1));
  if constexpr (is_float_type<T>) {
    if (v != v) return U(~U(0));
    U u;
    std::memcpy(&u, &v, sizeof u);
    if (U(u << 1) == 0) u = 0;  // -0
    return u & top ? U(~u) : U(u | top);
  } else if constexpr (std::is_signed_v<T>) {
    return U(U(v) ^ top);
  } else {
    return U(v);
  }
}

using SortTypes = TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t,
    uint8_t,
                           bool, uint16_t, uint32_t, uint64_t>;

constexpr int64_t kShort = 1500;

// Calls move(from, to, digit counts) for every byte of [low, high) bits in which keys differ.
template <class Item, class Key>
std::vector<Item>& radix(std::vector<Item>& a, std::vector<Item>& b, int low, int high, Key key) {
  const size_t n = a.size();
  b.resize(n);
  std::vector<Item>*from = &a, *to = &b;
  for (int shift = low; shift < high; shift += 8) {
    size_t count[256] = {};
    for (const Item& x : *from) ++count[(key(x) >> shift) & 255];
    if (count[(key((*from)[0]) >> shift) & 255] == n) continue;
    size_t at = 0;
    for (size_t& c : count) {
      const size_t here = c;
      c = at;
      at += here;
    }
    for (const Item& x : *from) (*to)[count[(key(x) >> shift) & 255]++] = x;
    std::swap(from, to);
  }
  return *from;
}

}  // namespace

void sort_keys(DType dtype, const void* in, int64_t stride, int64_t n, bool descending,
               uint64_t* keys) {
  visit(SortTypes{}, dtype, "sort", [&]<class T>() {
    const T* p = static_cast<const T*>(in);
    constexpr uint64_t all = ~uint64_t(0) >> (64 - sizeof(T) * 8);
    const uint64_t flip = descending ? all : 0;
    for (int64_t i = 0; i < n; ++i) keys[i] = key_of(p[i * stride]) ^ flip;
  });
}

int sort_key_bits(DType dtype) { return int(itemsize(dtype)) * 8; }

uint64_t nan_key(DType dtype) { return ~uint64_t(0) >> (64 - sort_key_bits(dtype)); }

void StableSort::run(const uint64_t* keys, int64_t n, int bits, int64_t* order) {
  if (n == 0) return;
  if (std::is_sorted(keys, keys + n)) {
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    return;
  }
  if (bits <= 32 && n < (int64_t(1) << 32)) run_packed(keys, n, bits, order);
  else run_wide(keys, n, order);
}

void StableSort::run_packed(const uint64_t* keys, int64_t n, int bits, int64_t* order) {
  packed_.resize(size_t(n));
  for (int64_t i = 0; i < n; ++i) packed_[size_t(i)] = keys[i] << 32 | uint64_t(i);
  const std::vector<uint64_t>* done = &packed_;
  if (n <= kShort) std::sort(packed_.begin(), packed_.end());
  else done = &radix(packed_, packed_other_, 32, 32 + bits, [](uint64_t x) { return x; });
  for (int64_t i = 0; i < n; ++i) order[i] = int64_t((*done)[size_t(i)] & 0xffffffffu);
}

void StableSort::run_wide(const uint64_t* keys, int64_t n, int64_t* order) {
  wide_.resize(size_t(n));
  for (int64_t i = 0; i < n; ++i) wide_[size_t(i)] = {keys[i], i};
  const std::vector<Wide>* done = &wide_;
  if (n <= kShort)
    std::sort(wide_.begin(), wide_.end(), [](const Wide& a, const Wide& b) {
      return a.key != b.key ? a.key < b.key : a.at < b.at;
    });
  else
    done = &radix(wide_, wide_other_, 0, 64, [](const Wide& x) { return x.key; });
  for (int64_t i = 0; i < n; ++i) order[i] = (*done)[size_t(i)].at;
}

}  // namespace rl
