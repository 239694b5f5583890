// Losses below autograd: element-wise terms, then the reduction.
#include "ops/native.h"

namespace rl::native {

Tensor mse_terms(const Tensor&, const Tensor&);
Tensor l1_terms(const Tensor&, const Tensor&);
Tensor smooth_l1_terms(const Tensor&, const Tensor&, double);
Tensor huber_terms(const Tensor&, const Tensor&, double);
Tensor soft_margin_terms(const Tensor&, const Tensor&);
Tensor bce_terms(const Tensor&, const Tensor&);
Tensor bce_logits_terms(const Tensor&, const Tensor&);
Tensor sum_all(const Tensor&, std::optional<DType>);
Tensor mean_all(const Tensor&, std::optional<DType>);
Tensor mul(const Tensor&, const Tensor&);
Tensor add(const Tensor&, const Tensor&, const Scalar&);
Tensor sub(const Tensor&, const Tensor&, const Scalar&);
Tensor log_sigmoid(const Tensor&);

namespace {

Tensor reduced(const Tensor& terms, int64_t reduction) {
  check(reduction >= 0 && reduction <= 2, "invalid reduction ", reduction);
  if (reduction == 0) return terms;
  return reduction == 1 ? mean_all(terms, std::nullopt) : sum_all(terms, std::nullopt);
}

}  // namespace

Tensor mse_loss(const Tensor& x, const Tensor& y, int64_t reduction) {
  return reduced(mse_terms(x, y), reduction);
}
Tensor l1_loss(const Tensor& x, const Tensor& y, int64_t reduction) {
  return reduced(l1_terms(x, y), reduction);
}
Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, int64_t reduction, double beta) {
  check(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  return reduced(beta == 0 ? l1_terms(x, y) : smooth_l1_terms(x, y, beta), reduction);
}
Tensor huber_loss(const Tensor& x, const Tensor& y, int64_t reduction, double delta) {
  check(delta > 0, "huber_loss does not support non-positive values for delta.");
  return reduced(huber_terms(x, y, delta), reduction);
}
Tensor soft_margin_loss(const Tensor& x, const Tensor& y, int64_t reduction) {
  return reduced(soft_margin_terms(x, y), reduction);
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& y, const Tensor& weight,
                            int64_t reduction) {
  check_value(x.sizes() == y.sizes(), "Using a target size (", y.sizes(),
              ") that is different to the input size (", x.sizes(),
              ") is deprecated. Please ensure they have the same size.");
  const Tensor real =
      to_dtype(contiguous(x), x.dtype() == DType::Double ? DType::Double : DType::Float);
  if (!x.is_meta()) {
    auto in_range = [&]<class T>() {
      for (int64_t i = 0; i < real.numel(); ++i)
        check(!(real.data<T>()[i] < 0) && !(real.data<T>()[i] > 1),
              "all elements of input should be between 0 and 1");
    };
    visit(RealFloatTypes{}, real.dtype(), "binary_cross_entropy", in_range);
  }
  Tensor terms = bce_terms(x, y);
  return reduced(weight.defined() ? mul(terms, weight) : terms, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& y, const Tensor& weight,
                                        const Tensor& pos_weight, int64_t reduction) {
  check_value(x.sizes() == y.sizes(), "Target size (", y.sizes(),
              ") must be the same as input size (", x.sizes(), ")");
  Tensor terms;
  if (pos_weight.defined()) {  // (1 - y) x - (1 + (p - 1) y) log sigmoid(x)
    Tensor one = wrapped_number(Scalar(1.0));
    Tensor w = add(mul(sub(pos_weight, one, Scalar(1)), y), one, Scalar(1));
    terms = sub(mul(sub(one, y, Scalar(1)), x), mul(w, log_sigmoid(x)), Scalar(1));
  } else {
    terms = bce_logits_terms(x, y);
  }
  return reduced(weight.defined() ? mul(terms, weight) : terms, reduction);
}

// ---- negative log-likelihood: input [N, C, ...] or [C]
namespace {

struct NllShape {
  int64_t batch, classes, inner;
};

NllShape nll_shape(IntRef sizes) {
  if (sizes.size() == 1) return {1, sizes[0], 1};
  int64_t inner = 1;
  for (size_t i = 2; i < sizes.size(); ++i) inner *= sizes[i];
  return {sizes[0], sizes[1], inner};
}

void check_nll(const Tensor& x, const Tensor& target, const Tensor& weight) {
  check(x.dim() >= 1, "Expected 1 or more dimensions (got 0)");
  const int64_t n = x.dim() == 1 ? target.numel() : x.size(0);
  if (x.dim() <= 2) {
    check(x.dim() > 0 && x.dim() <= 2, "input tensor should be 1D or 2D");
    check(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    check(!(x.dim() == 1 && target.dim() == 1), "Dimension mismatch: Input is 1D and Target is 1D");
    if (x.dim() == 2)
      check(x.size(0) == target.numel(), "size mismatch (got input: ", x.sizes(), ", target: ",
            target.sizes(), ")");
  } else {
    bool same = target.dim() == x.dim() - 1 && target.size(0) == n;
    for (int64_t d = 1; same && d < target.dim(); ++d) same = target.size(d) == x.size(d + 1);
    check(same, "size mismatch (got input: ", x.sizes(), " , target: ", target.sizes(), ")");
  }
  const int64_t classes = x.size(x.dim() == 1 ? 0 : 1);
  check(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
        "weight tensor should be defined either for all ", classes,
        " classes or no classes but got weight tensor of shape: ",
        weight.defined() ? weight.sizes() : IntRef());
  check(target.dtype() == DType::Int64 || target.dtype() == DType::UInt8,
        "expected target dtype to be Long or Byte, but got ", target.dtype());
  check(!weight.defined() || weight.dtype() == x.dtype(), "expected scalar type ", x.dtype(),
        " but found ", weight.defined() ? weight.dtype() : x.dtype());
}

int64_t class_at(int64_t t, int64_t classes) {
  check_index(t >= 0 && t < classes, "Target ", t, " is out of bounds.");
  return t;
}

template <class T>
double nll_terms(const NllShape& s, const T* x, const int64_t* target, const T* w, int64_t ignore,
                 T* out, double& total) {
  double sum = 0;
  total = 0;
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t i = 0; i < s.inner; ++i) {
      const int64_t t = target[b * s.inner + i];
      T term = 0;
      if (t != ignore) {
        const int64_t c = class_at(t, s.classes);
        const T weight = w ? w[c] : T(1);
        term = -x[(b * s.classes + c) * s.inner + i] * weight;
        sum += double(term);
        total += double(weight);
      }
      if (out) out[b * s.inner + i] = term;
    }
  return sum;
}

}  // namespace

std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target,
                                            const Tensor& weight, int64_t reduction,
                                            int64_t ignore_index) {
  check_nll(self, target, weight);
  const DType compute = opmath(self.dtype());
  Dims none_sizes(target.sizes());
  Tensor out =
      empty_tensor(reduction == 0 ? IntRef(none_sizes) : IntRef(), self.dtype(), self.device());
  Tensor total = empty_tensor({}, self.dtype(), self.device());
  if (out.is_meta()) return {out, total};
  const Tensor x = to_dtype(contiguous(self), compute),
               t = to_dtype(contiguous(target), DType::Int64);
  const Tensor w = weight.defined() ? to_dtype(contiguous(weight), compute) : Tensor();
  visit(RealFloatTypes{}, compute, "nll_loss_out_frame", [&]<class T>() {
    Tensor terms = reduction == 0 ? empty_tensor(none_sizes, compute) : Tensor();
    double weights = 0;
    double sum = nll_terms<T>(nll_shape(self.sizes()), x.data<T>(), t.data<int64_t>(),
                              w.defined() ? w.data<T>() : nullptr, ignore_index,
                              terms.defined() ? terms.data<T>() : nullptr, weights);
    fill(total, Scalar(reduction == 0 ? 0.0 : weights));
    if (terms.defined()) copy_into(out, terms);
    else fill(out, Scalar(reduction == 1 ? sum / weights : sum));
  });
  return {out, total};
}

Tensor nll_loss_backward(const Tensor& grad, IntRef sizes, const Tensor& target,
                         const Tensor& weight, int64_t reduction, int64_t ignore_index,
                         const Tensor& total_weight) {
  check_nll(empty_tensor(sizes, weight.defined() ? weight.dtype() : grad.dtype(),
                         Device{DeviceType::Meta}),
            target, weight);
  check(grad.numel() == (reduction == 0 ? target.numel() : 1), "nll_loss_backward: a gradient of ",
        "sizes ", grad.sizes(), " for targets of sizes ", target.sizes());
  const DType compute = opmath(grad.dtype());
  Tensor dx = full(sizes, Scalar(0), compute, grad.device());
  if (dx.is_meta()) return to_dtype(dx, grad.dtype());
  const NllShape s = nll_shape(sizes);
  const Tensor g = to_dtype(contiguous(grad), compute),
               t = to_dtype(contiguous(target), DType::Int64);
  const Tensor w = weight.defined() ? to_dtype(contiguous(weight), compute) : Tensor();
  const double scale = reduction == 1 ? 1.0 / item(total_weight).to_double() : 1.0;
  visit(RealFloatTypes{}, compute, "nll_loss_backward", [&]<class T>() {
    for (int64_t k = 0; k < s.batch * s.inner; ++k) {
      const int64_t c = t.data<int64_t>()[k];
      if (c == ignore_index) continue;
      check_index(c >= 0 && c < s.classes, "Target ", c, " is out of bounds.");
      const T gk = g.data<T>()[reduction == 0 ? k : 0], wc = w.defined() ? w.data<T>()[c] : T(1);
      dx.data<T>()[(k / s.inner * s.classes + c) * s.inner + k % s.inner] = -gk * wc * T(scale);
    }
  });
  return to_dtype(dx, grad.dtype());
}

}  // namespace rl::native
