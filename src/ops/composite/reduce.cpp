// Reductions made of other operators, and overloads of the native ones.
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/reduce.h"
#include "ops/formula.h"

namespace rl::composite {

Tensor nanmean(const Tensor& self, std::optional<IntRef> dim, bool keepdim,
               std::optional<DType> dtype) {
  check(self.is_floating() || self.is_complex(),
        "nanmean(): expected input to have floating point or complex dtype but got ", self.dtype());
  Tensor count = rl::sum(rl::logical_not(rl::isnan(self)), dim, keepdim, std::nullopt);
  return rl::nansum(self, dim, keepdim, dtype) / rl::to(count, dtype.value_or(self.dtype()));
}

Tensor max_other(const Tensor& self, const Tensor& other) { return rl::maximum(self, other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return rl::minimum(self, other); }

static std::optional<Scalar> correction(bool unbiased) { return Scalar(int64_t(unbiased)); }
Tensor var_all(const Tensor& self, bool unbiased) {
  return rl::var(self, std::nullopt, correction(unbiased), false);
}
Tensor var_dims(const Tensor& self, std::optional<IntRef> dim, bool unbiased, bool keepdim) {
  return rl::var(self, dim, correction(unbiased), keepdim);
}
Tensor std_all(const Tensor& self, bool unbiased) {
  return rl::std(self, std::nullopt, correction(unbiased), false);
}
Tensor std_dims(const Tensor& self, std::optional<IntRef> dim, bool unbiased, bool keepdim) {
  return rl::std(self, dim, correction(unbiased), keepdim);
}
std::tuple<Tensor, Tensor> var_mean_all(const Tensor& self, bool unbiased) {
  return rl::var_mean(self, std::nullopt, correction(unbiased), false);
}
std::tuple<Tensor, Tensor> var_mean_dims(const Tensor& self, std::optional<IntRef> dim,
                                         bool unbiased, bool keepdim) {
  return rl::var_mean(self, dim, correction(unbiased), keepdim);
}
std::tuple<Tensor, Tensor> std_mean_all(const Tensor& self, bool unbiased) {
  return rl::std_mean(self, std::nullopt, correction(unbiased), false);
}
std::tuple<Tensor, Tensor> std_mean_dims(const Tensor& self, std::optional<IntRef> dim,
                                         bool unbiased, bool keepdim) {
  return rl::std_mean(self, dim, correction(unbiased), keepdim);
}

}  // namespace rl::composite
