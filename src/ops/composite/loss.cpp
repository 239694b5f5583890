// Losses made of other operators.
#include <cmath>

#include "gen/ops/activation.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/loss.h"
#include "gen/ops/math.h"
#include "gen/ops/reduce.h"
#include "gen/ops/scatter.h"
#include "gen/ops/softmax.h"
#include "gen/ops/views.h"
#include "ops/formula.h"

namespace rl::composite {

namespace {
Tensor num(double v) { return wrapped_number(Scalar(v)); }
Tensor reduced(const Tensor& t, int64_t reduction) {
  if (reduction == 0) return t;
  return reduction == 1 ? rl::mean(t) : rl::sum(t);
}
Tensor sum_dim(const Tensor& t, int64_t dim, bool keepdim = false) {
  return rl::sum(t, IntRef(&dim, 1), keepdim, std::nullopt);
}
}  // namespace

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight,
                   int64_t reduction, int64_t ignore_index) {
  check_value(self.dim() >= 1, "Expected 1 or more dimensions (got ", self.dim(), ")");
  if (self.dim() != 1)
    check_value(target.dim() > 0 && self.size(0) == target.size(0), "Expected input batch_size (",
                self.size(0), ") to match target batch_size (", target.dim() ? target.size(0) : 1,
                ").");
  return std::get<0>(self.dim() <= 2
                         ? rl::nll_loss_forward(self, target, weight, reduction, ignore_index)
                         : rl::nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}

namespace {

Tensor cross_entropy_probabilities(const Tensor& self, const Tensor& target, const Tensor& weight,
                                   int64_t reduction, double smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1, classes = self.size(class_dim);
  check(target.is_floating(),
        "Expected floating point type for target with class probabilities, got ", target.dtype());
  check(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
        "cross_entropy: weight tensor should be defined either for all ", classes,
        " classes or no classes");
  Tensor logp = rl::log_softmax(self, class_dim, std::nullopt);
  Tensor y =
      smoothing > 0 ? target * Scalar(1 - smoothing) + Scalar(smoothing / double(classes)) : target;
  if (weight.defined()) {
    Dims shape(size_t(self.dim()), 1);
    shape[size_t(class_dim)] = classes;
    logp = logp * rl::view(weight, shape);
  }
  Tensor terms = logp * y;
  if (reduction == 2) return -rl::sum(terms);
  if (reduction == 0) return -sum_dim(terms, class_dim);
  const double n = self.dim() == 1 ? 1 : double(self.numel()) / double(classes);
  return -(rl::sum(terms) / Scalar(n));
}

// (1 - s) nll + s / C * (sum over classes), each with PyTorch's weights for the mean.
Tensor cross_entropy_smoothed(const Tensor& self, const Tensor& target, const Tensor& weight,
                              int64_t reduction, int64_t ignore_index, double smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1, classes = self.size(class_dim);
  Tensor logp = rl::log_softmax(self, class_dim, std::nullopt);
  Tensor nll = rl::nll_loss_nd(logp, target, weight, reduction, ignore_index);
  Tensor all = logp;
  if (weight.defined()) {
    Dims shape(size_t(self.dim()), 1);
    shape[size_t(class_dim)] = classes;
    all = logp * rl::view(weight, shape);
  }
  Tensor smooth = -sum_dim(all, class_dim);
  Tensor ignored = rl::eq(target, wrapped_number(Scalar(ignore_index)));
  smooth = rl::_where(ignored, num(0), smooth);
  if (reduction == 1) {
    Tensor kept = rl::logical_not(ignored);
    if (weight.defined()) {
      Tensor safe = rl::_where(kept, target, wrapped_number(Scalar(int64_t(0))));
      Tensor w = rl::reshape(rl::index_select(weight, 0, rl::reshape(safe, {-1})), target.sizes());
      smooth = rl::sum(smooth) / rl::sum(rl::_where(kept, w, num(0)));
    } else {
      smooth = rl::sum(smooth) / rl::to(rl::sum(kept), self.dtype());
    }
  } else if (reduction == 2) {
    smooth = rl::sum(smooth);
  }
  return nll * Scalar(1 - smoothing) + smooth * Scalar(smoothing / double(classes));
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight,
                          int64_t reduction, int64_t ignore_index, double label_smoothing) {
  check(label_smoothing >= 0 && label_smoothing <= 1,
        "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (self.sizes() == target.sizes()) {
    check(ignore_index < 0, "ignore_index is not supported for floating point target");
    return cross_entropy_probabilities(self, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0)
    return cross_entropy_smoothed(self, target, weight, reduction, ignore_index, label_smoothing);
  return rl::nll_loss_nd(rl::log_softmax(self, self.dim() == 1 ? 0 : 1, std::nullopt), target,
                         weight, reduction, ignore_index);
}

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  check(!is_integral(self.dtype(), true) && !is_integral(target.dtype(), true),
        "kl_div: Integral inputs not supported.");
  Tensor terms = log_target ? rl::exp(target) * (target - self)
                            : rl::xlogy(target, target) - target * self;
  return reduced(terms, reduction);
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin,
                            int64_t reduction) {
  Tensor clipped = rl::clamp_min(Scalar(margin) - self, Scalar(0));
  Tensor a = rl::_where(rl::ne(target, num(1)), clipped, num(0));
  Tensor b = rl::_where(rl::ne(target, num(-1)), self, num(0));
  return reduced(a + b, reduction);
}

Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& y, double margin,
                           int64_t reduction) {
  return reduced(rl::clamp_min(-(y * (x1 - x2)) + Scalar(margin), Scalar(0)), reduction);
}

Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& y, double margin,
                             int64_t reduction) {
  check(y.dim() == 0 || y.dim() == 1,
        "0D or 1D target tensor expected, multi-target not supported");
  const int64_t d = y.dim() == 1 ? 1 : 0;
  check(x1.dim() == d + 1 && x2.dim() == d + 1, y.dim() == 1
            ? "1D target tensor expects 2D input tensors, but found inputs with sizes "
            : "0D target tensor expects 1D input tensors, but found inputs with sizes ",
        x1.sizes(), " and ", x2.sizes(), ".");
  const double eps = 1e-12;
  Tensor dot = sum_dim(x1 * x2, d);
  Tensor n1 = sum_dim(x1 * x1, d) + Scalar(eps), n2 = sum_dim(x2 * x2, d) + Scalar(eps);
  Tensor cos = dot / rl::sqrt(n1 * n2);
  Tensor pos = rl::_where(rl::eq(y, num(1)), Scalar(1.0) - cos, num(0));
  Tensor neg =
      rl::_where(rl::eq(y, num(-1)), rl::clamp_min(cos - Scalar(margin), Scalar(0)), num(0));
  return reduced(pos + neg, reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, int64_t reduction) {
  check(margin > 0, "margin must be greater than 0, got ", margin);
  check(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
        "The anchor, positive, and negative tensors are expected to have the same number of "
        "dimensions, "
        "but got: anchor ",
        anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(),
        "D inputs");
  Tensor dp = rl::pairwise_distance(anchor, positive, p, eps);
  Tensor dn = rl::pairwise_distance(anchor, negative, p, eps);
  if (swap) dn = rl::minimum(dn, rl::pairwise_distance(positive, negative, p, eps));
  return reduced(rl::clamp_min(dp - dn + Scalar(margin), Scalar(0)), reduction);
}

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p,
                         const Scalar& margin, const Tensor& weight, int64_t reduction) {
  check(p.equal(1) || p.equal(2), "only p == 1 and p == 2 supported");
  check(self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0),
        "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
        self.sizes());
  const bool single = self.dim() < 2;
  Tensor x = single ? rl::reshape(self, {1, -1}) : self;
  Tensor t = rl::reshape(target, {-1, 1});
  check(t.size(0) == x.size(0), "multi_margin_loss: target tensor should be 1-D with size equal to "
        "the number of input samples (batch size). Expected target size [", x.size(0),
        "], but got ", target.sizes(), ". Input has shape ", self.sizes(), ".");
  Tensor margins = rl::clamp_min(x - rl::gather(x, 1, t) + margin, Scalar(0));
  if (p.equal(2)) margins = margins * margins;
  if (weight.defined())
    margins = margins * rl::reshape(rl::index_select(weight, 0, rl::view(t, {-1})), {-1, 1});
  Tensor classes = rl::reshape(rl::arange(Scalar(x.size(1))), {1, -1});
  margins = rl::_where(rl::eq(classes, t), num(0), margins);
  Tensor out = sum_dim(margins, 1) / Scalar(double(x.size(1)));
  if (single && reduction == 0) out = rl::reshape(out, target.sizes());
  return reduced(out, reduction);
}

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check(self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0),
        "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
        self.sizes());
  check(self.sizes() == target.sizes(), "inconsistent target size: ", target.sizes(),
        " for input of size: ", self.sizes());
  const bool single = self.dim() < 2;
  Tensor x = rl::reshape(self, {single ? 1 : self.size(0), -1}), t = rl::reshape(target, x.sizes());
  const int64_t classes = x.size(1);
  // Labels count up to the first -1 of a row.
  Tensor ended = rl::gt(rl::cumsum(rl::lt(t, num(0)), 1), num(0));
  Tensor valid = rl::logical_not(ended);
  Tensor labels = rl::_where(valid, t, wrapped_number(Scalar(int64_t(0))));
  Tensor is_target =
      rl::scatter_add(rl::zeros(x.sizes(), DType::Int64, x.device()), 1, labels,
                      rl::to(valid, DType::Int64));
  Tensor at = rl::gather(x, 1, labels);                             // [N, label]
  Tensor gaps = rl::clamp_min(Scalar(1.0) - rl::unsqueeze(at, 2) + rl::unsqueeze(x, 1), Scalar(0));
  Tensor use =
      rl::logical_and(rl::unsqueeze(valid, 2), rl::unsqueeze(rl::eq(is_target, num(0)), 1));
  gaps = rl::_where(use, gaps, num(0));
  const int64_t dims[] = {1, 2};
  Tensor out = rl::sum(gaps, IntRef(dims), false, std::nullopt) / Scalar(double(classes));
  if (single) out = rl::reshape(out, IntRef());
  return reduced(out, reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, int64_t reduction) {
  Tensor loss = log_input ? rl::exp(input) - target * input
                          : input - target * rl::log(input + Scalar(eps));
  if (full) {
    Tensor stirling =
        target * rl::log(target) - target + rl::log(target * Scalar(2 * M_PI)) * Scalar(0.5);
    loss = loss + rl::_where(rl::le(target, num(1)), num(0), stirling);
  }
  return reduced(loss, reduction);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  check(x1.is_floating() && x2.is_floating(),
        "expected common dtype to be floating point, yet common dtype is ",
        promote_types(x1.dtype(), x2.dtype()));
  auto shape = broadcast_shapes(x1.sizes(), x2.sizes());
  Tensor a = rl::expand(x1, shape), b = rl::expand(x2, shape);
  auto norm = [&](const Tensor& t) {
    return rl::linalg_vector_norm(t, Scalar(2), IntRef(&dim, 1), true);
  };
  auto bounded = [&](const Tensor& n) { return rl::clamp_min(n, Scalar(eps)); };
  return sum_dim((a / bounded(norm(a))) * (b / bounded(norm(b))), dim);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const int64_t last = std::max<int64_t>(std::max(x1.dim(), x2.dim()) - 1, 0);
  Tensor d = x1 - x2 + Scalar(eps);
  return rl::linalg_vector_norm(d, Scalar(p), IntRef(&last, 1), keepdim);
}

}  // namespace rl::composite
