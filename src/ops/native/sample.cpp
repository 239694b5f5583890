// New random tensors: factories, and samples element by element from parameters.
#include <cmath>

#include "core/random_streams.h"
#include "gen/pointwise_arith.h"
#include "gen/pointwise_random.h"
#include "ops/index_tools.h"

namespace rl::native {
void uniform_(const Tensor& self, double from, double to, Generator* generator);
void normal_(const Tensor& self, double mean, double std, Generator* generator);
void random_from_(const Tensor& self, int64_t from, std::optional<int64_t> to,
                  Generator* generator);
void bernoulli_float_(const Tensor& self, double p, Generator* generator);
Tensor empty_like(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                  std::optional<MemoryFormat> format);

namespace {
Generator& of(Generator* g) { return generator_or_default(g); }

Tensor fresh(IntRef size, std::optional<DType> dtype, DType otherwise,
             std::optional<Device> device) {
  return empty_tensor(size, dtype.value_or(otherwise), device.value_or(Device{}));
}
}  // namespace

Tensor rand(IntRef size, Generator* generator, std::optional<DType> dtype,
            std::optional<Device> device) {
  Tensor out = fresh(size, dtype, default_dtype(), device);
  uniform_(out, 0, 1, generator);
  return out;
}
Tensor randn(IntRef size, Generator* generator, std::optional<DType> dtype,
             std::optional<Device> device) {
  Tensor out = fresh(size, dtype, default_dtype(), device);
  normal_(out, 0, 1, generator);
  return out;
}
Tensor randint_low(int64_t low, int64_t high, IntRef size, Generator* generator,
                   std::optional<DType> dtype, std::optional<Device> device) {
  Tensor out = fresh(size, dtype, DType::Int64, device);
  random_from_(out, low, high, generator);
  return out;
}
Tensor randint(int64_t high, IntRef size, Generator* generator, std::optional<DType> dtype,
               std::optional<Device> device) {
  return randint_low(0, high, size, generator, dtype, device);
}

Tensor rand_like(const Tensor& self, Generator* generator, std::optional<DType> dtype,
                 std::optional<Device> device, std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, dtype, device, format);
  uniform_(out, 0, 1, generator);
  return out;
}
Tensor randn_like(const Tensor& self, Generator* generator, std::optional<DType> dtype,
                  std::optional<Device> device, std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, dtype, device, format);
  normal_(out, 0, 1, generator);
  return out;
}
Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, Generator* generator,
                        std::optional<DType> dtype, std::optional<Device> device,
                        std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, dtype, device, format);
  random_from_(out, low, high, generator);
  return out;
}
Tensor randint_like(const Tensor& self, int64_t high, Generator* generator,
                    std::optional<DType> dtype, std::optional<Device> device,
                    std::optional<MemoryFormat> format) {
  return randint_like_low(self, 0, high, generator, dtype, device, format);
}
Tensor randint_like_tensor(const Tensor& self, const Tensor& high, Generator* generator,
                           std::optional<DType> dtype, std::optional<Device> device,
                           std::optional<MemoryFormat> format) {
  return randint_like_low(self, 0, item(high).to_int(), generator, dtype, device, format);
}

Tensor randperm(int64_t n, Generator* generator, std::optional<DType> dtype,
                std::optional<Device> device) {
  const DType d = dtype.value_or(DType::Int64);
  check(n >= 0, "Trying to create tensor with negative dimension ", n, ": [", n, "]");
  const int digits = d == DType::Half ? 11 : d == DType::BFloat16 ? 8 : d == DType::Float ? 24 : 53;
  if (is_floating(d))
    check(n <= (int64_t(1) << digits) + 1, "n cannot be greater than ", (int64_t(1) << digits) + 1,
          " for ", d, " type.");
  else if (is_integral(d) && n > 0) check_overflow(Scalar(n), d);
  Tensor out = empty_tensor({n}, d, device.value_or(Device{}));
  if (out.is_meta()) return out;
  visit(RealTypes{}, d, "randperm", [&]<class T>() {
    fill_randperm<T>(of(generator), out.data<T>(), n);
  });
  return out;
}

// ---- normal with tensors of parameters
namespace {

void check_std(const Tensor& std) {
  check(!std.is_complex(), "normal expects standard deviation to be non-complex");
  if (std.is_meta() || std.numel() == 0) return;
  const Tensor t = contiguous(to_dtype(std, DType::Double));
  const double* p = t.data<double>();
  for (int64_t i = 0; i < t.numel(); ++i)
    check(!(p[i] < 0), "normal expects all elements of std >= 0.0");
}

Tensor standard_normal(IntRef sizes, const Tensor& like, double std, Generator* generator) {
  Tensor out = empty_tensor(sizes, like.dtype(), like.device());
  normal_(out, 0, std, generator);
  return out;
}

void add_to(const Tensor& out, const Tensor& other) {
  if (!out.is_meta()) add_into(out, other, Scalar(1), out, true);
}
void scale_by(const Tensor& out, const Tensor& other) {
  if (!out.is_meta()) mul_into(out, other, out, true);
}

}  // namespace

Tensor normal_tensor_float(const Tensor& mean, double std, Generator* generator) {
  check(std >= 0.0, "normal expects std >= 0.0, but found std ", std);
  Tensor out = standard_normal(mean.sizes(), mean, std, generator);
  add_to(out, mean);
  return out;
}
Tensor normal_float_tensor(double mean, const Tensor& std, Generator* generator) {
  check_std(std);
  Tensor out = standard_normal(std.sizes(), std, 1, generator);
  scale_by(out, std);
  add_to(out, wrapped_number(Scalar(mean)));
  return out;
}
Tensor normal_tensor_tensor(const Tensor& mean, const Tensor& std, Generator* generator) {
  check_std(std);
  Tensor out = standard_normal(broadcast_shapes(mean.sizes(), std.sizes()), mean, 1, generator);
  scale_by(out, std);
  add_to(out, mean);
  return out;
}
Tensor normal_float_float(double mean, double std, IntRef size, Generator* generator,
                          std::optional<DType> dtype, std::optional<Device> device) {
  Tensor out = fresh(size, dtype, default_dtype(), device);
  normal_(out, mean, std, generator);
  return out;
}

// ---- element by element
Tensor poisson(const Tensor& self, Generator* generator) {
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  if (!is_floating(self.dtype())) dtype_not_implemented("poisson_cpu", self.dtype());
  if (out.is_meta()) return out;
  const Tensor rate = contiguous(self);
  visit(FloatTypes{}, self.dtype(), "poisson_cpu", [&]<class T>() {
    sample_poisson<T>(of(generator), out.data<T>(), rate.data<T>(), out.numel());
  });
  return out;
}

Tensor binomial(const Tensor& count, const Tensor& prob, Generator* generator) {
  check_value(is_floating(count.dtype()), "binomial only supports floating-point dtypes for count, "
              "got: ", count.dtype());
  check_value(is_floating(prob.dtype()),
              "binomial only supports floating-point dtypes for prob, got: ", prob.dtype());
  check(count.dtype() == prob.dtype(), "Found dtype ", prob.dtype(), " but expected ",
        count.dtype());
  const Dims sizes = broadcast_shapes(count.sizes(), prob.sizes());
  Tensor out = empty_tensor(sizes, count.dtype(), count.device());
  if (out.is_meta()) return out;
  const Tensor n = contiguous(expand(count, sizes)), p = contiguous(expand(prob, sizes));
  visit(RealFloatTypes{}, count.dtype(), "binomial_cpu", [&]<class T>() {
    sample_binomial<T>(of(generator), out.data<T>(), n.data<T>(), p.data<T>(), out.numel());
  });
  return out;
}

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   Generator* generator) {
  check(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  check(is_floating(self.dtype()),
        "multinomial only supports floating-point dtypes for input, got: ", self.dtype());
  check(num_samples > 0, "cannot sample n_sample <= 0 samples");
  const int64_t n = self.size(-1);
  check(replacement || num_samples <= n,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  check(n <= (int64_t(1) << 24), "number of categories cannot exceed 2^24");
  check(n > 0 || (self.dim() == 2 && self.size(0) == 0),
        "aminmax(): cannot compute aminmax over an "
        "empty dimension as the operation has no identity.");
  Dims sizes(self.sizes());
  sizes.back() = num_samples;
  Tensor out = empty_tensor(sizes, DType::Int64, self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor weights = contiguous(self);
  visit(FloatTypes{}, self.dtype(), "multinomial_with_replacement_kernel_impl", [&]<class T>() {
    sample_multinomial<T>(of(generator), out.data<int64_t>(), weights.data<T>(), self.numel() / n,
                          n, num_samples, replacement);
  });
  return out;
}

Tensor _standard_gamma(const Tensor& self, Generator* generator) {
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  if (out.is_meta()) return out;
  const Tensor alpha = contiguous(self);
  visit(RealFloatTypes{}, self.dtype(), "gamma_cpu", [&]<class T>() {
    sample_standard_gamma<T>(of(generator), out.data<T>(), alpha.data<T>(), out.numel());
  });
  return out;
}

Tensor _sample_dirichlet(const Tensor& self, Generator* generator) {
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  if (out.is_meta()) return out;
  const Tensor alpha = contiguous(self);
  const int64_t n = self.dim() == 0 ? 1 : self.size(-1);
  visit(RealFloatTypes{}, self.dtype(), "dirichlet", [&]<class T>() {
    if (out.numel() > 0)
      sample_dirichlet<T>(of(generator), out.data<T>(), alpha.data<T>(), out.numel() / n, n);
  });
  return out;
}

// ---- dropout
// The mask (true: kept) and input * (mask * scale), in one pass over the input.
std::tuple<Tensor, Tensor> _fused_dropout(const Tensor& self, double p, Generator* generator) {
  check(is_differentiable(self.dtype()),
        "result type Float can't be cast to the desired output type ", self.dtype());
  Tensor mask = empty_like_tensor(self, DType::Bool);
  bernoulli_float_(mask, 1 - p, generator);
  return {_scale_kept(self, mask, 1 / (1 - p)), mask};
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (input.numel() == 0) return {input, empty_like_tensor(input, DType::Bool)};
  if (train && !*train)
    return {preserving_clone(input),
            full(input.sizes(), Scalar(true), DType::Bool, input.device())};
  Tensor mask = empty_like_tensor(input, DType::Bool);
  bernoulli_float_(mask, 1 - p, nullptr);
  return {_scale_kept(input, mask, p == 1 ? 0.0 : 1 / (1 - p)), mask};
}

// ---- rrelu
namespace {
void check_rrelu(const Tensor& self, const Tensor& noise, const Scalar& lower,
                 const Scalar& upper) {
  check(noise.sizes() == self.sizes(),
        "noise tensor shape must match self tensor shape. Got self.shape "
        "= ",
        self.sizes(), " noise.shape = ", noise.sizes());
  check(lower.to_double() <= upper.to_double(),
        "Lower bound should be less than or equal to the upper bound");
}
}  // namespace

Tensor rrelu_with_noise(const Tensor& self, const Tensor& noise, const Scalar& lower,
                        const Scalar& upper, bool training, Generator* generator) {
  check_rrelu(self, noise, lower, upper);
  if (!training)
    return _leaky(self, (lower.to_double() + upper.to_double()) / 2);
  Tensor out = empty_tensor(self.sizes(), self.dtype(), self.device());
  if (out.is_meta()) return out;
  const Tensor in = contiguous(self);
  const bool direct = noise.is_contiguous() && noise.dtype() == self.dtype();
  const Tensor block = direct ? noise : empty_tensor(self.sizes(), self.dtype());
  visit(TypeList<float, double, bfloat16>{}, self.dtype(), "rrelu_with_noise_out_cpu",
        [&]<class T>() {
          sample_rrelu<T>(of(generator), out.data<T>(), block.data<T>(), in.data<T>(), out.numel(),
                          lower.to_double(), upper.to_double());
        });
  if (!direct) copy_into(noise, block);
  return out;
}

void rrelu_with_noise_(const Tensor& self, const Tensor& noise, const Scalar& lower,
                       const Scalar& upper, bool training, Generator* generator) {
  copy_into(self, rrelu_with_noise(self, noise, lower, upper, training, generator));
}

}  // namespace rl::native
