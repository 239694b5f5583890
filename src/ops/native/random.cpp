// In-place random numbers: checks and words of the errors; the streams are in
// core/random_streams.h.
#include <cmath>
#include <limits>

#include "base/warn.h"
#include "core/random_streams.h"
#include "ops/index_tools.h"

namespace rl::native {
namespace {

Generator& of(Generator* g) { return generator_or_default(g); }

// A tensor whose memory is one block, to be filled in the order of memory: self or a stand-in.
Tensor block_of(const Tensor& self) {
  check_no_internal_overlap(self);
  if (is_non_overlapping_and_dense(self.sizes(), self.strides())) return self;
  return empty_like_tensor(self, self.dtype());
}

// f.template operator()<T>(T* out, n) on the memory of self; a complex tensor as twice as many
// reals.
template <class Types, class F>
void fill_block(Types types, const Tensor& self, const char* name, F&& f) {
  if (self.is_meta()) return;
  const Tensor block = block_of(self);
  visit(types, to_real(self.dtype()), name, [&]<class T>() {
    f(static_cast<T*>(block.data()), block.numel() * (self.is_complex() ? 2 : 1));
  });
  if (!block.is_same(self)) copy_into(self, block);
}

using IntegerTypes = TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t,
                              uint8_t, bool>;
using RangeTypes = TypeList<float, double, half, bfloat16, int64_t, int32_t, int16_t, int8_t,
                            uint8_t, bool, uint16_t, uint32_t, uint64_t>;

struct Limits {
  double low, high;     // numbers that the type holds
  int digits;           // exact whole numbers: up to 2^digits
};
Limits limits_of(DType d) {
  switch (d) {
    case DType::Half: return {-65504.0, 65504.0, 11};
    case DType::BFloat16: return {-3.3895313892515355e38, 3.3895313892515355e38, 8};
    case DType::Float: return {-double(std::numeric_limits<float>::max()),
                               double(std::numeric_limits<float>::max()), 24};
    default: return {-std::numeric_limits<double>::max(), std::numeric_limits<double>::max(), 53};
  }
}

}  // namespace

// ---- continuous
void uniform_(const Tensor& self, double from, double to, Generator* generator) {
  const DType real = to_real(self.dtype());
  if (!is_floating(real)) dtype_not_implemented("check_uniform_bounds", self.dtype());
  const Limits l = limits_of(real);
  const char* name = cpp_type_name(real);
  check(from >= l.low && from <= l.high, "from is out of bounds for ", name);
  check(to >= l.low && to <= l.high, "to is out of bounds for ", name);
  check(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
        " > to=", to);
  check(to - from <= l.high, "uniform_ expects to-from <= std::numeric_limits<", name,
        ">::max(), but found to=", to, " and from=", from,
        " which result in to-from to exceed the limit");
  fill_block(FloatTypes{}, self, "uniform", [&]<class T>(T* p, int64_t n) {
    fill_uniform<T>(of(generator), p, n, from, to);
  });
}

static void normal_into(const Tensor& self, double mean, double std, Generator* generator) {
  if (!is_differentiable(self.dtype())) dtype_not_implemented("normal_kernel_cpu", self.dtype());
  const bool rows = self.is_contiguous();
  if (self.is_complex()) std /= std::sqrt(2.0);
  fill_block(FloatTypes{}, self, "normal_kernel_cpu", [&]<class T>(T* p, int64_t n) {
    if (rows) fill_normal<T>(of(generator), p, n, mean, std);
    else fill_normal_scalar<T>(of(generator), p, n, mean, std);
  });
}

void normal_(const Tensor& self, double mean, double std, Generator* generator) {
  check(std >= 0.0, "normal expects std >= 0.0, but found std ", std);
  normal_into(self, mean, std, generator);
}

void exponential_(const Tensor& self, double lambd, Generator* generator) {
  check(is_floating(self.dtype()), "Exponential distribution is a continuous probability "
        "distribution. dtype must be a floating point but you specified ", self.dtype());
  check(lambd > 0.0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  fill_block(FloatTypes{}, self, "exponential_cpu", [&]<class T>(T* p, int64_t n) {
    fill_exponential<T>(of(generator), p, n, lambd);
  });
}

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  check(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  check(is_floating(self.dtype()), "Cauchy distribution is a continuous probability distribution. "
        "dtype must be a floating point but you specified ", cpp_type_name(self.dtype()));
  fill_block(FloatTypes{}, self, "cauchy_cpu", [&]<class T>(T* p, int64_t n) {
    fill_cauchy<T>(of(generator), p, n, median, sigma);
  });
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
  check(std > 0.0, "log_normal_ expects std > 0.0, but found std=", std);
  if (!is_floating(self.dtype())) dtype_not_implemented("log_normal_cpu", self.dtype());
  fill_block(FloatTypes{}, self, "log_normal_cpu", [&]<class T>(T* p, int64_t n) {
    fill_log_normal<T>(of(generator), p, n, mean, std);
  });
}

// ---- integers
namespace {

void check_bound(int64_t v, DType d, const char* what) {
  if (is_floating(d)) {
    const Limits l = limits_of(d);
    check(double(v) >= l.low && double(v) <= l.high, what, " is out of bounds for ",
          cpp_type_name(d));
    const int64_t exact = int64_t(1) << l.digits;
    if (v < -exact || v > exact)
      warn(what, " is out of bounds [-(2^", l.digits, "), 2^", l.digits,
           "]. Due to precision limitations ", cpp_type_name(d), " can support discrete uniform "
           "distribution only within this range. This warning will become an error in version 1.7 "
           "release, please fix the code in advance");
    return;
  }
  check(is_integral(d, true),
        "check_random_bounds handles only integral, floating-point and boolean types");
  int64_t low = 0, high = INT64_MAX;
  visit(RangeTypes{}, d, "random_", [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      low = std::is_signed_v<T> ? int64_t(std::numeric_limits<T>::min()) : 0;
      high = sizeof(T) == 8 ? INT64_MAX : int64_t(std::numeric_limits<T>::max());
    }
  });
  check(v >= low && v <= high, what, " is out of bounds for ", cpp_type_name(d));
}

void random_range(const Tensor& self, int64_t base, uint64_t range, Generator* generator) {
  if (self.numel() == 0) return;
  fill_block(RangeTypes{}, self, "random_from_to_kernel_cpu", [&]<class T>(T* p, int64_t n) {
    fill_random_range<T>(of(generator), p, n, base, range);
  });
}

// The largest number that random_ without an upper bound gives.
int64_t highest_of(DType d) {
  if (is_floating(d)) return int64_t(1) << limits_of(d).digits;
  int64_t high = INT64_MAX;
  visit(RangeTypes{}, d, "random_", [&]<class T>() {
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8)
      high = int64_t(std::numeric_limits<T>::max());
  });
  return high;
}

}  // namespace

void random_from_(const Tensor& self, int64_t from, std::optional<int64_t> to,
                  Generator* generator) {
  const DType d = self.dtype();
  check(!is_complex(d),
        "check_random_bounds handles only integral, floating-point and boolean types");
  if (!to) {
    if (from == INT64_MIN) return random_range(self, 0, 0, generator);
    const int64_t high = highest_of(d);
    check_bound(from, d, "from");
    return random_range(self, from, uint64_t(high) - uint64_t(from) + 1, generator);
  }
  check(from < *to, "random_ expects 'from' to be less than 'to', but got from=", from,
        " >= to=", *to);
  int64_t low = from, high = *to;
  if (is_floating(d)) {
    visit(FloatTypes{}, d, "random_", [&]<class T>() { snap_random_bounds<T>(low, high); });
    check(low < high,
          "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
          "but got from=",
          low, " >= to=", high);
  }
  check_bound(low, d, "from");
  check_bound(high - 1, d, "to - 1");
  random_range(self, low, uint64_t(high) - uint64_t(low), generator);
}

void random_to_(const Tensor& self, int64_t to, Generator* generator) {
  random_from_(self, 0, to, generator);
}

void random_all_(const Tensor& self, Generator* generator) {
  if (self.is_complex()) dtype_not_implemented("random_kernel_cpu", self.dtype());
  fill_block(IntegerTypes{}, self, "random_kernel_cpu", [&]<class T>(T* p, int64_t n) {
    fill_random<T>(of(generator), p, n);
  });
}

// ---- discrete
void bernoulli_float_(const Tensor& self, double p, Generator* generator) {
  check(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  if (self.is_complex()) dtype_not_implemented("bernoulli_scalar_cpu_", self.dtype());
  fill_block(IntegerTypes{}, self, "bernoulli_scalar_cpu_", [&]<class T>(T* out, int64_t n) {
    fill_bernoulli<T>(of(generator), out, n, p);
  });
}

void bernoulli_tensor_(const Tensor& self, const Tensor& p, Generator* generator) {
  if (self.is_complex()) dtype_not_implemented("bernoulli_tensor_cpu_self_", self.dtype());
  if (!is_floating(p.dtype())) dtype_not_implemented("bernoulli_tensor_cpu_p_", p.dtype());
  const Tensor wide = expand(p, self.sizes());
  if (self.is_meta()) return;
  const Tensor block = block_of(self);
  Tensor probs = empty_strided_tensor(self.sizes(), block.strides(), p.dtype());
  copy_into(probs, wide);
  visit(IntegerTypes{}, self.dtype(), "bernoulli_tensor_cpu_self_", [&]<class T>() {
    visit(FloatTypes{}, p.dtype(), "bernoulli_tensor_cpu_p_", [&]<class P>() {
      fill_bernoulli<T, P>(of(generator), block.data<T>(), probs.data<P>(), block.numel());
    });
  });
  if (!block.is_same(self)) copy_into(self, block);
}

Tensor bernoulli(const Tensor& self, Generator* generator) {
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  bernoulli_tensor_(out, self, generator);
  return out;
}
Tensor bernoulli_p(const Tensor& self, double p, Generator* generator) {
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  bernoulli_float_(out, p, generator);
  return out;
}
Tensor bernoulli_tensor(const Tensor& self, const Tensor& p, Generator* generator) {
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  bernoulli_tensor_(out, p, generator);
  return out;
}

void geometric_(const Tensor& self, double p, Generator* generator) {
  check(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  if (self.is_complex() || self.dtype() == DType::Bool)
    dtype_not_implemented("geometric_cpu", self.dtype());
  fill_block(RealTypes{}, self, "geometric_cpu", [&]<class T>(T* out, int64_t n) {
    fill_geometric<T>(of(generator), out, n, p);
  });
}

}  // namespace rl::native
