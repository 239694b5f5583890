// The loss of connectionist temporal classification: the negative logarithm of the probability of
// all alignments, by the forward-backward recursion in logarithms (Graves et al., ICML 2006).
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/native.h"

namespace rl::native {
namespace {

constexpr double kNone = -INFINITY;  // probability 0

double log_add(double a, double b) {
  const double m = std::max(a, b);
  return m == kNone ? kNone : m + std::log(std::exp(a - m) + std::exp(b - m));
}

struct Problem {
  int64_t time, batch, classes, blank, longest = 0;
  Tensor targets;             // int64, row-major
  std::vector<int64_t> start;  // of each target
  IntRef input_lengths, target_lengths;

  Problem(const Tensor& log_probs, const Tensor& t, IntRef il, IntRef tl, int64_t b)
      : time(log_probs.size(0)), batch(log_probs.size(1)), classes(log_probs.size(2)), blank(b),
        input_lengths(il), target_lengths(tl) {
    check(blank >= 0 && blank < classes, "blank must be in label range");
    check(int64_t(il.size()) == batch, "input_lengths must be of size batch_size");
    check(int64_t(tl.size()) == batch, "target_lengths must be of size batch_size");
    check(t.dim() == 1 || t.dim() == 2, "targets should be 1D or 2D, but got ", t.dim(), "D");
    targets = contiguous(to_dtype(t, DType::Int64));
    int64_t at = 0;
    for (int64_t i = 0; i < batch; ++i) {
      check(il[size_t(i)] >= 0, "Expected input_lengths to have value at least 0, but got value ",
            il[size_t(i)]);
      check(tl[size_t(i)] >= 0, "Expected target_lengths to have value at least 0, but got value ",
            tl[size_t(i)]);
      check(il[size_t(i)] <= time, "Expected input_lengths to have value at most ", time,
            ", but got value ", il[size_t(i)],
            " (while checking arguments for ctc_loss_allocate_outputs)");
      start.push_back(t.dim() == 1 ? at : i * t.size(1));
      at += tl[size_t(i)];
      longest = std::max(longest, tl[size_t(i)]);
    }
    if (t.dim() == 1)
      check(at == t.numel(), "Expected tensor to have size ", at, " at dimension 0, but got size ",
            t.numel());
    else
      check(t.size(0) == batch && t.size(1) >= longest, "Expected tensor to have size at least ",
          longest,
            " at dimension 1, but got size ", t.sizes());
  }
  int64_t width() const { return 2 * longest + 1; }
  // Label s of the target with blanks around each of its own.
  int64_t label(int64_t b, int64_t s) const {
    return s % 2 == 0 ? blank : targets.data<int64_t>()[start[size_t(b)] + s / 2];
  }
  bool may_skip(int64_t b, int64_t s) const {  // from s - 2 to s
    return s >= 2 && s % 2 == 1 && label(b, s) != label(b, s - 2);
  }
};

// alpha[t][s], the probability of the prefix; p[t * step + label] are the log-probabilities.
double forward(const Problem& q, int64_t b, const double* p, int64_t step, double* alpha) {
  const int64_t T = q.input_lengths[size_t(b)], S = 2 * q.target_lengths[size_t(b)] + 1, W
      = q.width();
  std::fill(alpha, alpha + q.time * W, kNone);
  if (T == 0) return S == 1 ? 0 : INFINITY;
  alpha[0] = p[q.blank];
  if (S > 1) alpha[1] = p[q.label(b, 1)];
  for (int64_t t = 1; t < T; ++t)
    for (int64_t s = 0; s < S; ++s) {
      const double* before = alpha + (t - 1) * W;
      double sum = before[s];
      if (s > 0) sum = log_add(sum, before[s - 1]);
      if (q.may_skip(b, s)) sum = log_add(sum, before[s - 2]);
      alpha[t * W + s] = sum + p[t * step + q.label(b, s)];
    }
  const double* last = alpha + (T - 1) * W;
  return -(S > 1 ? log_add(last[S - 1], last[S - 2]) : last[0]);
}

// Adds -exp(alpha + beta + loss - p) to the gradient, with beta the probability of the suffix.
void backward(const Problem& q, int64_t b, const double* p, int64_t step, const double* alpha,
              double loss, double scale, double* grad) {
  const int64_t T = q.input_lengths[size_t(b)], S = 2 * q.target_lengths[size_t(b)] + 1, W
      = q.width();
  std::vector<double> beta(size_t(S), kNone), next(size_t(S), kNone), sums(size_t(q.classes));
  for (int64_t t = T - 1; t >= 0; --t) {
    for (int64_t s = 0; s < S; ++s) {
      double v = kNone;
      if (t == T - 1) {
        v = s >= S - 2 ? 0 : kNone;
      } else {
        v = next[size_t(s)];
        if (s + 1 < S) v = log_add(v, next[size_t(s + 1)]);
        if (s + 2 < S && q.may_skip(b, s + 2)) v = log_add(v, next[size_t(s + 2)]);
      }
      beta[size_t(s)] = v + p[t * step + q.label(b, s)];
    }
    std::fill(sums.begin(), sums.end(), kNone);
    for (int64_t s = 0; s < S; ++s) {
      double& sum = sums[size_t(q.label(b, s))];
      sum = log_add(sum, alpha[t * W + s] + beta[size_t(s)]);
    }
    for (int64_t c = 0; c < q.classes; ++c) {
      const double lp = p[t * step + c];
      const double posterior = sums[size_t(c)] == kNone ? 0 : std::exp(sums[size_t(c)] + loss - lp);
      grad[t * step + c] = (std::exp(lp) - posterior) * scale;
    }
    std::swap(beta, next);
  }
}

}  // namespace

std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                     IntRef input_lengths, IntRef target_lengths, int64_t blank,
                                     bool) {
  check(log_probs.dim() == 3, "log_probs must be 3-dimensional");
  if (log_probs.dtype() != DType::Float && log_probs.dtype() != DType::Double)
    dtype_not_implemented("ctc_loss_cpu", log_probs.dtype());
  if (log_probs.is_meta()) {
    int64_t longest = 0;
    for (int64_t n : target_lengths) longest = std::max(longest, n);
    const int64_t time = log_probs.size(0), batch = log_probs.size(1);
    return {empty_tensor({batch}, log_probs.dtype(), log_probs.device()),
            empty_tensor({batch, time, 2 * longest + 1}, log_probs.dtype(), log_probs.device())};
  }
  const Problem q(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor p = contiguous(to_dtype(log_probs, DType::Double));
  Tensor loss = empty_tensor({q.batch}, DType::Double, log_probs.device());
  Tensor alpha = empty_tensor({q.batch, q.time, q.width()}, DType::Double, log_probs.device());
  parallel_for(0, q.batch, 1, [&](int64_t b, int64_t e) {
    for (; b < e; ++b)
      loss.data<double>()[b] = forward(q, b, p.data<double>() + b * q.classes, q.batch * q.classes,
                                       alpha.data<double>() + b * q.time * q.width());
  });
  return {to_dtype(loss, log_probs.dtype()), to_dtype(alpha, log_probs.dtype())};
}

Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets,
                          IntRef input_lengths, IntRef target_lengths, const Tensor& losses,
                          const Tensor&, int64_t blank, bool zero_infinity) {
  const Problem q(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor p = contiguous(to_dtype(log_probs, DType::Double));
  const Tensor g = contiguous(to_dtype(grad, DType::Double));
  const Tensor loss = contiguous(to_dtype(losses, DType::Double));
  Tensor out = empty_tensor(log_probs.sizes(), DType::Double, log_probs.device());
  fill(out, Scalar(int64_t(0)));
  parallel_for(0, q.batch, 1, [&](int64_t b, int64_t e) {
    std::vector<double> alpha(size_t(q.time * q.width()));
    for (; b < e; ++b) {
      if (zero_infinity && std::isinf(loss.data<double>()[b])) continue;
      const double* at = p.data<double>() + b * q.classes;
      const double exact = forward(q, b, at, q.batch * q.classes, alpha.data());
      backward(q, b, at, q.batch * q.classes, alpha.data(), exact, g.data<double>()[b],
               out.data<double>() + b * q.classes);
    }
  });
  return to_dtype(out, log_probs.dtype());
}

}  // namespace rl::native
