// The front door of the engine: which gradients may enter it, at the roots and from node to node.
#include "autograd/engine.h"
#include "autograd/engine_ops.h"

namespace rl {

namespace {
bool expands_to(IntRef from, IntRef to) {
  if (from.size() > to.size()) return false;
  size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[i + shift] && from[i] != 1) return false;
  return true;
}

[[gnu::noinline]] void fit(const std::string& name, size_t i, const OutputInfo& want, Tensor& g) {
  if (g.sizes() != IntRef(want.sizes)) {
    check(expands_to(want.sizes, g.sizes()), name, " returned an invalid gradient at index ", i,
          " - got ", g.sizes(), " but expected shape compatible with ", want.sizes);
    g = engine_ops::sum_to(g, want.sizes);
  }
  if (g.dtype() != want.dtype && want.dtype != DType::Undefined) {
    check(is_differentiable(g.dtype()) || is_complex(want.dtype) == g.is_complex(), name,
          " returned an invalid gradient at index ", i, " - expected type ", want.dtype,
          " but got ", g.dtype());
    if (g.is_complex() && !is_complex(want.dtype)) g = engine_ops::real(g);
    if (g.dtype() != want.dtype) g = engine_ops::to_dtype(g, want.dtype);
  }
  check(g.device().type == want.device.type, name, " returned an invalid gradient at index ", i,
        " - expected device ", want.device, " but got ", g.device());
}

bool fits(const OutputInfo& want, const Tensor& g) {
  return g.dtype() == want.dtype && g->sizes == want.sizes && g.device().type == want.device.type;
}

const OutputInfo* info_of(const Edge& e) {
  if (!e.node || e.input_nr >= e.node->outputs.size()) return nullptr;
  return &e.node->outputs[e.input_nr];
}
}  // namespace

void check_gradients(const Node& n, Grads& out) {
  const size_t count = n.edges.size();
  if (out.size() != count) {
    check(out.size() > count || n.edges.empty(), "Function ", n.name(),
          " returned an invalid number of input gradients - got ", out.size(), " but expected ",
          count);
    for (size_t i = count; i < out.size(); ++i)
      check(!out[i].defined(), "Function ", n.name(),
            " returned an invalid number of input gradients - got ", out.size(), " but expected ",
            count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!out[i].defined()) continue;
    const OutputInfo* want = info_of(n.edges[i]);
    if (!want || fits(*want, out[i])) [[likely]] continue;
    fit(str("Function ", n.name()), i, *want, out[i]);
  }
}

void check_gradients_of_roots(const std::vector<Edge>& roots, Grads& grads) {
  for (size_t i = 0; i < roots.size(); ++i) {
    const OutputInfo* want = info_of(roots[i]);
    if (!want || !grads[i].defined() || fits(*want, grads[i])) continue;
    fit("The root of the graph", i, *want, grads[i]);
  }
}

Tensor make_root_grad(const Tensor& output, const Tensor& grad, size_t index) {
  if (grad.defined()) {
    check(output.sizes() == grad.sizes(), "Mismatch in shape: grad_output[", index,
          "] has a shape of torch.Size(", grad.sizes(), ") and output[", index,
          "] has a shape of torch.Size(", output.sizes(), ").");
    check(output.is_complex() == grad.is_complex(),
          "For complex Tensors, both grad_output and output are required to have the same dtype. "
          "Mismatch in dtype: grad_output[", index, "] has a dtype of torch.",
          dtype_name(grad.dtype()), " and output[", index, "] has a dtype of torch.",
          dtype_name(output.dtype()), ".");
    return grad;
  }
  if (!output->requires_grad) return {};
  check(output.numel() == 1, "grad can be implicitly created only for scalar outputs");
  check(output.is_floating(), "grad can be implicitly created only for real scalar outputs but got "
        "torch.", dtype_name(output.dtype()));
  if (output.dim() == 0 && output.device().is_cpu() && !output->dispatches &&
      !(tls.modes & kBelowModes))
    return scalar_tensor(Scalar(1.0), output.dtype());
  NoGrad no_grad;
  return engine_ops::ones_like(output);
}

std::vector<Tensor> run_backward(TensorList outputs, TensorList grad_outputs, TensorList inputs,
                                 BackwardOptions options) {
  std::vector<Edge> roots, targets;
  Grads grads;
  std::vector<Tensor> target_tensors;
  roots.reserve(outputs.size());
  grads.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& out = outputs[i];
    grads.push_back(make_root_grad(out, i < grad_outputs.size() ? grad_outputs[i] : Tensor(), i));
    Edge e = gradient_edge(out);
    check(bool(e.node), "element ", i,
          " of tensors does not require grad and does not have a grad_fn");
    roots.push_back(std::move(e));
  }
  for (const Tensor& in : inputs) {
    check(in->requires_grad, "One of the differentiated Tensors does not require grad");
    targets.push_back(gradient_edge(in));
    target_tensors.push_back(options.accumulate && !is_leaf(in) ? in : Tensor());
  }
  return run_backward_edges(roots, std::move(grads), targets, target_tensors, options);
}

}  // namespace rl
