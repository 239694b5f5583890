// Views and in-place operations. A view remembers its root base and how it was made. Writing to a
// view makes the base's history CopySlices; the grad_fn of every view of that memory is made again,
// lazily, when it is asked for and the version has moved on.
#include <mutex>

#include "autograd/engine_ops.h"
#include "autograd/node.h"

namespace rl {

// ---- the list of a base's views, kept while the base needs no gradient: when it starts to, the
// flag that operators test must appear on all of them.
ViewInfo::~ViewInfo() {
  if (!link) return;
  std::lock_guard guard(base->autograd->lock);
  if (!link) return;
  *link = next;
  if (next) next->link = link;
}

static void link_view(AutogradMeta& base, ViewInfo& v) {
  std::lock_guard guard(base.lock);
  v.next = base.views;
  if (v.next) v.next->link = &v.next;
  v.link = &base.views;
  base.views = &v;
}

void flag_views(const Tensor& base) {
  AutogradMeta* m = meta_or_null(base);
  if (!m || !m->views) return;
  std::lock_guard guard(m->lock);
  for (ViewInfo* v = m->views; v;) {
    if (is_differentiable(v->self->dtype)) v->self->requires_grad = true;
    ViewInfo* next = v->next;
    v->next = nullptr;
    v->link = nullptr;
    v = next;
  }
  m->views = nullptr;
}

static Replay by_geometry(const Tensor& t) {
  return [sizes = t->sizes, strides = t->strides, offset = t->offset](const Tensor& b) {
    return engine_ops::as_strided(b, sizes, strides, offset);
  };
}

// How to make `result` from its root: null (as_strided) wherever the element type is the root's.
static Replay replay_from_root(const Tensor& root, const ViewInfo* up, const Tensor& base,
                               const Tensor& result, Replay replay) {
  if (result.dtype() == root.dtype()) return {};
  Replay last = replay ? std::move(replay) : by_geometry(result);
  if (!up) return last;
  Replay first = up->replay ? up->replay : by_geometry(base);
  return [first, last](const Tensor& b) { return last(first(b)); };
}

void mark_view(const Tensor& base, const Tensor& result, Replay replay, bool multi_output) {
  if (tls.view_replay || base.is_same(result)) return;
  if (base->inference) return;  // nothing about it is ever recorded
  auto info = std::make_unique<ViewInfo>();
  const AutogradMeta* bm = meta_or_null(base);
  const ViewInfo* up = bm ? bm->view.get() : nullptr;
  info->base = up ? up->base : base;
  info->replay = replay_from_root(info->base, up, base, result, std::move(replay));
  // How it was made, or else how what it is a view of was made: the last that matters for writes.
  info->made_in_inference = tls.inference_mode;
  info->made_in_no_grad = !tls.grad_mode && !tls.inference_mode;
  info->multi_output = multi_output && tls.grad_mode && !tls.inference_mode;
  if (up && !info->made_in_inference && !info->made_in_no_grad && !info->multi_output) {
    info->multi_output = up->multi_output;
    info->made_in_no_grad = up->made_in_no_grad;
    info->made_in_inference = up->made_in_inference;
    info->custom_function = up->custom_function;
  }
  info->self = result.impl();
  info->attr_version = result.version();
  AutogradMeta& m = meta(result);
  if (!info->base->requires_grad) link_view(meta(info->base), *info);
  else if (is_differentiable(result.dtype())) result->requires_grad = true;
  m.view = std::move(info);
}

void mark_views(const Tensor& base, TensorList results) {
  for (const Tensor& t : results) mark_view(base, t, nullptr, true);
}

Tensor alias_as_view(const Tensor& t) {
  Tensor v = detached(t);
  mark_view(t, v, nullptr);
  return v;
}

// ---- grad_fn
// Views whose writes cannot be recorded. `later`: not this write, but one to the base or to another
// view, is what made the present history of the view.
static void check_creation(const ViewInfo& v, const AutogradMeta& m, bool later) {
  if (!v.multi_output && !v.custom_function && !v.made_in_no_grad && !v.made_in_inference) return;
  const char* what = later ? "and its base or another view of its base has been modified inplace"
                           : "and is being modified inplace";
  const bool ambiguous = v.made_in_inference || v.made_in_no_grad;
  std::string which = "A view ";
  if (m.grad_fn)
    which = str("Output ", m.output_nr, " of ", short_name(*m.grad_fn), " is a view ",
                ambiguous ? "of a view which " : "");
  if (v.made_in_inference)
    append(which, str("was created in inference mode ", what, " in normal mode."));
  else if (v.made_in_no_grad || !m.grad_fn)
    append(which, str("was created in no_grad mode ", what, " with grad mode enabled."));
  else
    append(which, str(what, "."));
  if (ambiguous) {
    const char* block = v.made_in_inference ? "inference_mode" : "no_grad";
    fail(which, " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
         "clarify your code by moving both the view and the inplace either both inside the ", block,
         " block (if you don't want the inplace to be tracked) or both outside (if you want the "
         "inplace to be tracked).");
  }
  if (v.multi_output)
    fail(which,
         " This view is the output of a function that returns multiple views. Such functions "
         "do not allow the output views to be modified inplace. You should replace the inplace "
         "operation by an out-of-place one.");
  fail(which, " This view was created inside a custom Function (or because an input was returned "
       "as-is) and the autograd logic to handle view+inplace would override the custom backward "
       "associated with the custom Function, leading to incorrect gradients. This behavior is "
       "forbidden. You can fix this by cloning the output of the custom Function.");
}

static void move_retain_hook(AutogradMeta& m, const NodePtr& from, const NodePtr& to) {
  if (!m.retain) return;
  if (from)
    std::erase_if(from->retain_hooks, [&](auto& h) { return h.second == m.retain; });
  if (to) to->retain_hooks.emplace_back(m.output_nr, m.retain);
}

static NodePtr rebuild(const Tensor& t, AutogradMeta& m) {
  ViewInfo& v = *m.view;
  check_creation(v, m, true);
  uint32_t version = t.version();
  Tensor again;
  {
    GradMode grad(true);
    ModesOff modes;
    bool replaying = std::exchange(tls.view_replay, true);
    struct Restore {
      bool to;
      ~Restore() { tls.view_replay = to; }
    } restore{replaying};
    again = v.replay ? v.replay(v.base)
                     : engine_ops::as_strided(v.base, t.sizes(), t.strides(), t.offset());
  }
  const AutogradMeta* made = meta_or_null(again);
  NodePtr old = m.grad_fn;
  NodePtr fresh = made ? made->grad_fn : nullptr;
  m.grad_fn = fresh;
  m.output_nr = made ? made->output_nr : 0;
  move_retain_hook(m, old, fresh);
  v.attr_version = version;
  return fresh;
}

NodePtr grad_fn(const Tensor& t) {
  AutogradMeta* m = meta_or_null(t);
  if (!m) return nullptr;
  if (!m->view) [[likely]] return m->grad_fn;
  if (!t->requires_grad || t.version() == m->view->attr_version) return m->grad_fn;
  if (!m->grad_fn && !m->view->base->requires_grad) return nullptr;
  return rebuild(t, *m);
}

// ---- writing to part of a tensor
namespace {
// fn wrote to a view of base. The gradient of base is what arrives, with the view's part replaced
// by what fn's backward makes of it.
struct CopySlices final : Node {
  CopySlices(const Tensor& base_, const Tensor& view, Replay replay, NodePtr fn)
      : base_sizes(base_->sizes), base_strides(base_->strides), sizes(view->sizes),
        strides(view->strides), offset(view->offset - base_->offset), replay(std::move(replay)),
        fn(std::move(fn)) {
    front_end = this->fn->front_end;
    add_edges(*this, base_);
    for (size_t i = 1; i < this->fn->edges.size(); ++i) {
      const Edge& e = this->fn->edges[i];
      if (e.node) topological_nr = std::max(topological_nr, e.node->topological_nr + 1);
      edges.push_back(e);
    }
  }
  std::string name() const override { return "CopySlices"; }
  void release_saved() override { fn->release_saved(); }

  Tensor part(const Tensor& whole) const {
    if (replay) return replay(whole);
    return engine_ops::as_strided(whole, sizes, strides, whole.offset() + offset);
  }

  Grads apply(Grads&& grads) override {
    Grads out(edges.size());
    if (!grads[0].defined()) return out;
    Tensor whole = empty_strided_tensor(base_sizes, base_strides, grads[0].dtype(),
                                        grads[0].device());
    engine_ops::copy_into(whole, grads[0]);
    Tensor slice = part(whole);
    Grads inner(fn->outputs.size());
    inner[out_nr] = engine_ops::clone(slice);
    Grads res = fn->apply(std::move(inner));
    for (size_t i = 0; i < res.size() && i < out.size(); ++i) {
      if (i > 0) {
        out[i] = std::move(res[i]);
        continue;
      }
      if (!should_compute(0)) continue;
      if (res[0].defined()) engine_ops::copy_into(slice, res[0]);
      else engine_ops::zero_into(slice);
      out[0] = whole;
    }
    return out;
  }

  Dims base_sizes, base_strides, sizes, strides;
  int64_t offset;
  Replay replay;
  NodePtr fn;
  uint32_t out_nr = 0;
};
}  // namespace

// The edge of t becomes (node, nr): t was written by node's operation.
void set_edge(const Tensor& t, NodePtr node, uint32_t nr) {
  AutogradMeta& m = meta(t);
  if (!m.view) {
    NodePtr old = std::move(m.grad_fn);
    m.grad_fn = node;
    m.output_nr = nr;
    move_retain_hook(m, old, node);
    bool first = !t->requires_grad;
    t->requires_grad = true;
    if (first) flag_views(t);
    return;
  }
  ViewInfo& v = *m.view;
  Tensor base = v.base;
  auto slices = make_intrusive<CopySlices>(base, t, v.replay, std::move(node));
  slices->out_nr = nr;
  slices->outputs.push_back({base->sizes, base.dtype(), base.device()});
  set_edge(base, slices, 0);
  t->requires_grad = true;
  rebuild(t, m);
}

// ---- what may be written
static void check_view_write(const Tensor& self, AutogradMeta& m) {
  check_creation(*m.view, m, false);
  check(!(self->requires_grad && m.view->base->requires_grad && is_leaf(m.view->base)),
        "a view of a leaf Variable that requires grad is being used in an in-place operation.");
}

void check_inplace(const Tensor& self, bool needs_grad) {
  check(!self->inference || tls.inference_mode,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
        "clone to get a normal tensor before doing inplace update.See "
        "https://github.com/pytorch/rfcs/pull/17 for more details.");
  if (!needs_grad || !tls.grad_mode) return;
  AutogradMeta* m = meta_or_null(self);
  if (m && m->view) check_view_write(self, *m);
  check(!self->requires_grad || !is_leaf(self),
        "a leaf Variable that requires grad is being used in an in-place operation.");
}

}  // namespace rl
