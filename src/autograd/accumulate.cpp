// AccumulateGrad: the node at the end of the graph that adds to .grad of a leaf.
#include "autograd/engine_ops.h"
#include "autograd/node.h"
#include "core/sparse.h"

namespace rl {

static thread_local constinit bool layout_enforced = true;

bool enforce_grad_layout() { return layout_enforced; }
bool set_enforce_grad_layout(bool on) { return std::exchange(layout_enforced, on); }

AccumulateGrad::AccumulateGrad(Tensor leaf) : variable(std::move(leaf)) {
  sequence_nr = UINT64_MAX;  // runs as soon as its gradient is there, which frees that gradient
  accumulates = true;
  const AutogradMeta* m = meta_or_null(variable);
  DType dtype = variable.dtype();
  if (m && m->any_grad_dtype) dtype = DType::Undefined;
  else if (m && m->grad_dtype != DType::Undefined) dtype = m->grad_dtype;
  outputs.push_back({variable->sizes, dtype, variable.device()});
}

void AccumulateGrad::last_release() {
  // The leaf's weak pointer may be turned into a reference by another thread at this moment.
  AutogradMeta* m = meta_or_null(variable);
  if (m) {
    std::lock_guard guard(m->lock);
    if (count_.load(std::memory_order_acquire) > 1 &&
        count_.fetch_sub(1, std::memory_order_acq_rel) > 1)
      return;
    if (m->accumulator == this) m->accumulator = nullptr;
  }
  Node::last_release();
}

namespace {
bool follows_layout(const Tensor& grad, const Tensor& leaf) {
  if (grad->kind != ImplKind::Strided || leaf->kind != ImplKind::Strided) return true;
  if (leaf->contiguous) return grad->contiguous;
  if (!is_non_overlapping_and_dense(leaf->sizes, leaf->strides)) return grad->contiguous;
  for (int64_t d = 0; d < leaf.dim(); ++d)
    if (leaf->sizes[d] != 1 && leaf->strides[d] != grad->strides[d]) return false;
  return true;
}

// Nobody else holds the tensor or its memory; the base of a view counts if the view alone has it.
bool unshared(const Tensor& grad) {
  if (grad.use_count() != 1 || grad->python) return false;
  if (!grad->storage) return true;
  const AutogradMeta* m = meta_or_null(grad);
  bool sole_view = m && m->view && m->view->base.use_count() == 1 && !m->view->base->python;
  return grad->storage->use_count() == (sole_view ? 2u : 1u) && grad->storage->resizable();
}

Tensor clone_in_layout(const Tensor& grad, const Tensor& leaf) {
  if (grad->kind != ImplKind::Strided || leaf->kind != ImplKind::Strided || grad->dispatches)
    return engine_ops::clone(grad);
  if (leaf->contiguous || !is_non_overlapping_and_dense(leaf->sizes, leaf->strides))
    return engine_ops::clone_contiguous(grad);
  if (tls.grad_mode) return engine_ops::clone_strided(grad, leaf->strides);
  Tensor t = empty_strided_tensor(leaf->sizes, leaf->strides, grad.dtype(), grad.device());
  engine_ops::copy_into(t, grad);
  return t;
}
}  // namespace

void AccumulateGrad::accumulate(Tensor&& grad) {
  AutogradMeta& m = meta(variable);
  if (!m.grad.defined()) {
    bool steal = !tls.grad_mode && !grad->requires_grad && unshared(grad) &&
                 (!layout_enforced || follows_layout(grad, variable));
    if (steal && meta_or_null(grad)) grad = detached(grad);
    // A gradient taken over is a sparse tensor of its own that does not promise to be coalesced.
    if (steal && grad.is_sparse()) {
      grad = alias(grad);
      sparse_impl(grad).coalesced = false;
    }
    m.grad = steal ? std::move(grad) : clone_in_layout(grad, variable);
  } else if (!tls.grad_mode) {
    if (m.grad->requires_grad || m.grad.dtype() != grad.dtype() || m.grad->kind != grad->kind)
      m.grad = engine_ops::add(m.grad, grad);
    else
      engine_ops::add_into(m.grad, grad);
  } else {
    m.grad = engine_ops::add(m.grad, grad);
  }
}

Grads AccumulateGrad::apply(Grads&& grads) {
  if (grads.empty() || !grads[0].defined() || !variable->requires_grad) return {};
  {
    std::lock_guard guard(mutex_);
    accumulate(std::move(grads[0]));
  }
  AutogradMeta& m = meta(variable);
  if (!m.accumulate_hooks.empty())
    for (auto h : std::vector(m.accumulate_hooks)) h->call(variable);
  return {};
}

}  // namespace rl
