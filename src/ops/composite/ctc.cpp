// The reductions of the CTC loss.
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/interpolate.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/formula.h"
#include "ops/native.h"

namespace rl::composite {

namespace {
Dims lengths_of(const Tensor& t, const char* name) {
  check(is_integral(t.dtype(), false), name, " must be integral");
  Dims out;
  check_implemented(!t.is_meta(), name, " on the meta device have no values to use");
  const Tensor line = native::contiguous(native::to_dtype(t, DType::Int64));
  for (int64_t i = 0; i < line.numel(); ++i) out.push_back(line.data<int64_t>()[i]);
  return out;
}
}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntRef input_lengths,
                IntRef target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool batched = log_probs.dim() == 3;
  const Tensor p = batched ? log_probs : rl::unsqueeze(log_probs, 1);
  Tensor loss = std::get<0>(
      rl::_ctc_loss(p, targets, input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity)
    loss = rl::_where(rl::eq(loss, wrapped_number(Scalar(INFINITY))), wrapped_number(Scalar(0.0)),
        loss);
  if (reduction == 1 && loss.is_meta())
    return rl::mean(loss, std::optional<DType>());
  if (reduction == 1) {
    Tensor counts = tensor_from_ints(target_lengths);
    for (int64_t i = 0; i < counts.numel(); ++i)
      counts.data<int64_t>()[i] = std::max<int64_t>(counts.data<int64_t>()[i], 1);
    return rl::mean(loss / native::to_dtype(counts, loss.dtype()), std::optional<DType>());
  }
  if (reduction == 2) return rl::sum(loss, std::optional<DType>());
  return batched ? loss : rl::squeeze(loss);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction,
                    bool zero_infinity) {
  return rl::ctc_loss(log_probs, targets, lengths_of(input_lengths, "input_lengths"),
                      lengths_of(target_lengths, "target_lengths"), blank, reduction,
                          zero_infinity);
}

}  // namespace rl::composite
