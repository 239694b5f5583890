// Fused steps of optimizers: all parameters in one pass, in parallel over pieces of them.
#include "kernels/cpu/optim.h"

#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "core/tensor.h"
#include "core/tls.h"
#include "gen/ops/create.h"
#include "gen/ops/optim.h"

namespace rl::composite {
namespace {

constexpr int64_t kPiece = 16384;     // elements of one task
constexpr int64_t kSerial = 32768;    // less work than this is not worth a second thread
constexpr int kMax = 5;               // tensors that belong to one parameter

// What belongs to one parameter: itself, its gradient and its state, as runs of one layout.
struct Row {
  void* data[kMax] = {};
  int64_t n = 0;
  DType dtype = DType::Undefined;
};

bool same_layout(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

bool computable(DType d) {
  return d == DType::Float || d == DType::Double || d == DType::Half || d == DType::BFloat16;
}

// Collects the rows; tensors whose memory cannot be walked beside the parameter's are replaced by
// copies, which finish() writes back.
class Rows {
 public:
  Rows(const char* name, TensorList params) : name_(name), params_(params), rows_(params.size()) {
    for (size_t i = 0; i < params.size(); ++i) {
      const Tensor& p = params[i];
      check(!p->device.is_meta() && p->kind == ImplKind::Strided && computable(p.dtype()), name,
            ": expected dense floating point parameters on the CPU");
      rows_[i].n = p.numel();
      rows_[i].dtype = p.dtype();
      total_ += p.numel();
    }
    add(params);
  }

  // An empty list stands for a state that is not used.
  void add(TensorList list) {
    const int slot = used_++;
    if (list.empty()) return;
    check(list.size() == params_.size(), name_, ": lists of tensors must have one length, got ",
          params_.size(), " and ", list.size());
    for (size_t i = 0; i < list.size(); ++i) rows_[i].data[slot] = prepare(params_[i], list[i]);
  }

  template <class F>
  void run(F&& f) {
    if (total_ <= kSerial) {
      for (size_t i = 0; i < rows_.size(); ++i) f(i, rows_[i], int64_t(0), rows_[i].n);
    } else {
      run_parallel(f);
    }
    finish();
  }

 private:
  struct Copied {
    Tensor original, copy;
  };

  void* prepare(const Tensor& p, const Tensor& t) {
    check(t.sizes() == p.sizes(), name_, ": a tensor of a parameter's state has another shape");
    touched_.push_back(t);
    const bool dense = p.is_contiguous() || is_non_overlapping_and_dense(p.sizes(), p.strides());
    if (dense && (same_layout(p, t) ||
                  (p.is_contiguous() && t.is_contiguous() && p.dtype() == t.dtype())))
      return t.data();
    Tensor c = dense ? empty_strided_tensor(p.sizes(), p.strides(), p.dtype())
                     : empty_tensor(p.sizes(), p.dtype());
    NoGrad no_grad;
    copy_(c, t);
    copies_.push_back({t, c});
    return c.data();
  }

  template <class F>
  void run_parallel(F& f) {
    std::vector<std::pair<size_t, int64_t>> pieces;
    for (size_t i = 0; i < rows_.size(); ++i)
      for (int64_t at = 0; at < rows_[i].n; at += kPiece) pieces.emplace_back(i, at);
    parallel_for(0, int64_t(pieces.size()), 2, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const auto [i, at] = pieces[size_t(k)];
        f(i, rows_[i], at, std::min(kPiece, rows_[i].n - at));
      }
    });
  }

  void finish() {
    NoGrad no_grad;
    for (const Copied& c : copies_) copy_(alias(c.original), c.copy);
    for (const Tensor& t : touched_) bump_version(t);
  }

  const char* name_;
  TensorList params_;
  std::vector<Row> rows_;
  std::vector<Copied> copies_;
  std::vector<Tensor> touched_;
  int64_t total_ = 0;
  int used_ = 0;
};

void* offset(const Row& r, int slot, int64_t at) {
  return r.data[slot] ? static_cast<char*>(r.data[slot]) + at * itemsize(r.dtype) : nullptr;
}

// False if a scaled loss overflowed: the step must not be made.
bool set_policy(cpu::GradPolicy& p, double weight_decay, bool maximize, const Tensor& grad_scale,
                const Tensor& found_inf) {
  if (found_inf.defined() && item(found_inf).to_double() != 0) return false;
  p.weight_decay = weight_decay;
  p.maximize = maximize;
  if (grad_scale.defined()) p.inverse_scale = 1 / item(grad_scale).to_double();
  return true;
}

double step_number(const Tensor& t) {
  if (t.dtype() == DType::Float && t.numel() == 1) return *t.data<float>();
  return item(t).to_double();
}

struct AdamOptions {
  double lr, beta1, beta2, weight_decay, eps;
  bool amsgrad, maximize, decoupled;
};

void run_adam(const char* name, TensorList params, TensorList grads, TensorList means,
              TensorList squares, TensorList max_squares, TensorList steps, const AdamOptions& o,
              const Tensor& grad_scale, const Tensor& found_inf) {
  cpu::AdamStep s;
  if (!set_policy(s.grad, o.decoupled ? 0 : o.weight_decay, o.maximize, grad_scale, found_inf))
    return;
  check(steps.size() == params.size(), name, ": one step for each parameter expected");
  s.beta1 = o.beta1, s.beta2 = o.beta2, s.eps = o.eps;
  if (o.decoupled) s.decay = 1 - o.lr * o.weight_decay;
  Rows rows(name, params);
  rows.add(grads);
  rows.add(means);
  rows.add(squares);
  rows.add(o.amsgrad ? max_squares : TensorList());
  std::vector<std::pair<double, double>> scales(params.size());
  double last = -1;
  for (size_t i = 0; i < params.size(); ++i) {
    const double t = step_number(steps[i]);
    scales[i] = t == last ? scales[i - 1]
                          : std::pair(o.lr / (1 - std::pow(o.beta1, t)),
                                      1 / std::sqrt(1 - std::pow(o.beta2, t)));
    last = t;
  }
  rows.run([&](size_t i, const Row& r, int64_t at, int64_t n) {
    cpu::AdamStep mine = s;
    mine.step_size = scales[i].first, mine.root_scale = scales[i].second;
    cpu::adam_run(r.dtype, mine, offset(r, 0, at), offset(r, 1, at), offset(r, 2, at),
                  offset(r, 3, at), offset(r, 4, at), n);
  });
}

}  // namespace

void _fused_sgd_(TensorList params, TensorList grads, TensorList buffers, double weight_decay,
                 double momentum, double lr, double dampening, bool nesterov, bool maximize,
                 bool is_first_step, const Tensor& grad_scale, const Tensor& found_inf) {
  cpu::SgdStep s;
  if (!set_policy(s.grad, weight_decay, maximize, grad_scale, found_inf)) return;
  s.lr = lr, s.momentum = momentum, s.dampening = dampening;
  s.nesterov = nesterov, s.first = is_first_step;
  Rows rows("_fused_sgd_", params);
  rows.add(grads);
  rows.add(momentum != 0 ? buffers : TensorList());
  rows.run([&](size_t, const Row& r, int64_t at, int64_t n) {
    cpu::sgd_run(r.dtype, s, offset(r, 0, at), offset(r, 1, at), offset(r, 2, at), n);
  });
}

void _fused_adam_(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList steps, double lr, double beta1,
                  double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                  const Tensor& grad_scale, const Tensor& found_inf) {
  run_adam("_fused_adam_", params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps,
           {lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, false}, grad_scale, found_inf);
}

void _fused_adamw_(TensorList params, TensorList grads, TensorList exp_avgs,
                   TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList steps, double lr,
                   double beta1, double beta2, double weight_decay, double eps, bool amsgrad,
                   bool maximize, const Tensor& grad_scale, const Tensor& found_inf) {
  run_adam("_fused_adamw_", params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps,
           {lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, true}, grad_scale, found_inf);
}

void _fused_adagrad_(TensorList params, TensorList grads, TensorList sums, TensorList steps,
                     double lr, double lr_decay, double weight_decay, double eps, bool maximize,
                     const Tensor& grad_scale, const Tensor& found_inf) {
  cpu::AdagradStep s;
  if (!set_policy(s.grad, weight_decay, maximize, grad_scale, found_inf)) return;
  check(steps.size() == params.size(), "_fused_adagrad_: one step for each parameter expected");
  s.eps = eps;
  Rows rows("_fused_adagrad_", params);
  rows.add(grads);
  rows.add(sums);
  rows.run([&](size_t i, const Row& r, int64_t at, int64_t n) {
    cpu::AdagradStep mine = s;
    mine.lr = lr / (1 + (step_number(steps[i]) - 1) * lr_decay);
    cpu::adagrad_run(r.dtype, mine, offset(r, 0, at), offset(r, 1, at), offset(r, 2, at), n);
  });
}

void _fused_rmsprop_(TensorList params, TensorList grads, TensorList squares, TensorList means,
                     TensorList buffers, double lr, double alpha, double weight_decay, double eps,
                     double momentum, bool maximize) {
  cpu::RmspropStep s;
  set_policy(s.grad, weight_decay, maximize, Tensor(), Tensor());
  s.lr = lr, s.alpha = alpha, s.eps = eps, s.momentum = momentum;
  Rows rows("_fused_rmsprop_", params);
  rows.add(grads);
  rows.add(squares);
  rows.add(means);
  rows.add(buffers);
  rows.run([&](size_t, const Row& r, int64_t at, int64_t n) {
    cpu::rmsprop_run(r.dtype, s, offset(r, 0, at), offset(r, 1, at), offset(r, 2, at),
                     offset(r, 3, at), offset(r, 4, at), n);
  });
}

// Whether the fused steps can take these parameters and gradients.
bool _fused_accepts(TensorList params, TensorList grads) {
  for (const TensorList& list : {params, grads})
    for (const Tensor& t : list)
      if (!t.defined() || t->kind != ImplKind::Strided || t->device.is_meta() ||
          !computable(t.dtype()))
        return false;
  return true;
}

// Adds one to each of the steps, which are 0-dim tensors.
void _advance_steps_(TensorList steps) {
  for (const Tensor& t : steps) {
    check(t.numel() == 1 && !t.is_meta(), "_advance_steps_: expected tensors of one element");
    if (t.dtype() == DType::Float) *t.data<float>() += 1;
    else if (t.dtype() == DType::Double) *t.data<double>() += 1;
    else fail("_advance_steps_: expected float32 or float64 steps");
    bump_version(t);
  }
}

}  // namespace rl::composite
