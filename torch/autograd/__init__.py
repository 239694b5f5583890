"""Automatic differentiation: gradients of any program made of tensor operations."""
import sys

import torch
from torch import _C

from . import function, grad_mode
from .function import Function, NestedIOFunction
from .grad_mode import (_unsafe_preserve_version_counter, enable_grad, enforce_grad_layout_policy,
                        inference_mode, is_multithreading_enabled, no_grad, set_grad_enabled,
                        set_multithreading_enabled)
from .variable import Variable

__all__ = ["Variable", "Function", "backward", "grad_mode", "NestedIOFunction", "detect_anomaly",
           "enable_grad", "grad", "gradcheck", "gradgradcheck", "inference_mode", "no_grad",
           "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
           "enforce_grad_layout_policy", "variable"]

_LAZY = {"gradcheck": ("gradcheck", "gradcheck"), "gradgradcheck": ("gradcheck", "gradgradcheck"),
         "detect_anomaly": ("anomaly_mode", "detect_anomaly"),
         "set_detect_anomaly": ("anomaly_mode", "set_detect_anomaly"),
         "anomaly_mode": ("anomaly_mode", None), "functional": ("functional", None),
         "forward_ad": ("forward_ad", None), "graph": ("graph", None),
         "profiler": ("profiler", None), "profiler_util": ("profiler_util", None),
         "profiler_legacy": ("profiler_legacy", None)}
_OVERRIDES = ("handle_torch_function", "has_torch_function", "is_tensor_like")


def __getattr__(name):
    if name in _OVERRIDES:
        import torch.overrides
        return getattr(torch.overrides, name)
    if name not in _LAZY:
        raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")
    from importlib import import_module
    module, attr = _LAZY[name]
    try:
        value = import_module("torch.autograd." + module)
    except ModuleNotFoundError as error:
        if error.name != "torch.autograd." + module:
            raise
        raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'") from None
    if attr is not None:
        value = getattr(value, attr)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_LAZY})


def variable(*args, **kwargs):
    """Removed; use :func:`torch.tensor`."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


def kineto_available():
    """Whether :mod:`torch.profiler` works: always."""
    return True


def is_view_replay_enabled():
    """Whether histories of views are remade by repeating their operators where strides suffice."""
    return False


def _as_tuple(x):
    if x is None:
        return ()
    if isinstance(x, torch.Tensor) or hasattr(x, "output_nr"):
        return (x,)
    return tuple(x)


def _tensor_or_tensors_to_tuple(tensors, length):
    if tensors is None:
        return (None,) * length
    if isinstance(tensors, torch.Tensor):
        return (tensors,)
    return tuple(tensors)


def _dispatch(function, tensors, *args, **kwargs):
    """(answered, result): hands the call to `__torch_function__` of a subclass."""
    if not _C._has_torch_function(tensors):
        return False, None
    from torch.overrides import handle_torch_function
    return True, handle_torch_function(function, tensors, *args, **kwargs)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    """Add the gradients of `tensors` with respect to the leaves to their ``.grad``.

    Args:
        tensors (Tensor, GradientEdge, or sequence of them): where backward starts.
        grad_tensors (sequence of Tensor or None): one gradient per start, of the same shape;
            ``None`` for scalars, where 1 is meant.
        retain_graph (bool): keep what was saved, so that backward can run again.
            Default: the value of `create_graph`.
        create_graph (bool): record backward itself, for higher derivatives.
        inputs (sequence of Tensor): accumulate into these only. Default: all leaves.

    Raises:
        RuntimeError: a start needs no gradient; a gradient is missing or has another shape; what
            was saved is gone or was changed in place.
    """
    if grad_variables is not None:
        import warnings
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning,
                      stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed "
                "to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if isinstance(inputs, dict):
        inputs = tuple(inputs.values())
    if inputs is not None and not isinstance(inputs, torch.Tensor) and len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _as_tuple(tensors)
    grads = _tensor_or_tensors_to_tuple(grad_tensors, len(tensors))
    if retain_graph is None:
        retain_graph = create_graph
    _C._run_backward(tensors, grads, retain_graph, create_graph, _as_tuple(inputs), True, True)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """Gradients of `outputs` with respect to `inputs`; nothing is added to any ``.grad``.

    Args:
        outputs (Tensor, GradientEdge, or sequence of them): what is differentiated.
        inputs (Tensor, GradientEdge, sequence, or dict of them): by what.
        grad_outputs (sequence of Tensor or None): the vector of the vector-Jacobian product.
        retain_graph (bool): as in :func:`backward`.
        create_graph (bool): as in :func:`backward`.
        allow_unused (bool): give ``None`` for inputs that `outputs` do not depend on, instead of an
            error. Default: the value of `materialize_grads`.
        is_grads_batched (bool): `grad_outputs` have an additional first dimension, and so have the
            results: one product for each.
        materialize_grads (bool): zeros in place of ``None``.

    Returns:
        tuple of Tensor, or a dict when `inputs` is one.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    if isinstance(inputs, dict):
        found = grad(outputs, tuple(inputs.values()), grad_outputs, retain_graph, create_graph,
                     only_inputs, allow_unused, is_grads_batched, materialize_grads)
        return dict(zip(inputs, found))
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    answered, result = _dispatch(grad, (*outputs, *inputs), outputs, inputs,
                                 grad_outputs=grad_outputs, retain_graph=retain_graph,
                                 create_graph=create_graph, only_inputs=only_inputs,
                                 allow_unused=allow_unused, is_grads_batched=is_grads_batched,
                                 materialize_grads=materialize_grads)
    if answered:
        return result
    if not only_inputs:
        import warnings
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    grads = _tensor_or_tensors_to_tuple(grad_outputs, len(outputs))
    if retain_graph is None:
        retain_graph = create_graph
    result = _gradients(outputs, inputs, grads, retain_graph, create_graph, allow_unused,
                        is_grads_batched)
    if materialize_grads:
        result = tuple(_zeros_of(i) if g is None else g for g, i in zip(result, inputs))
    return result


def _gradients(outputs, inputs, grads, retain_graph, create_graph, allow_unused, many):
    if many:
        return _batched_grads(outputs, grads, retain_graph, create_graph, inputs, allow_unused)
    batched = "torch.func._batching" in sys.modules and _of_vmap(outputs, inputs)
    if batched:
        return batched.grad(outputs, inputs, grads, retain_graph=retain_graph,
                            create_graph=create_graph, allow_unused=allow_unused)
    return _C._run_backward(outputs, grads, retain_graph, create_graph, inputs, allow_unused,
                            False)


def _of_vmap(outputs, inputs):
    """The module that differentiates tensors of running vmaps, if there are any among these."""
    from torch.func import _batching
    tensors = [*outputs, *inputs]
    return _batching if _batching.levels and any(map(_batching.is_batched, tensors)) else None


def _zeros_of(x):
    if isinstance(x, torch.Tensor):
        return torch.zeros_like(x, requires_grad=True)
    info = x.node._input_metadata[x.output_nr]
    return torch.zeros(info.shape, dtype=info.dtype, device=info.device, requires_grad=True)


def _batched_grads(outputs, grads, retain_graph, create_graph, inputs, allow_unused):
    """One backward pass for each entry of the first dimension of `grads`."""
    sizes = {g.shape[0] for g in grads if g is not None and g.dim()}
    if any(g is not None and g.dim() == 0 for g in grads) or len(sizes) != 1:
        raise RuntimeError("If `is_grads_batched=True`, all grad_outputs need a first dimension of "
                           "the same size.")
    for i, (g, o) in enumerate(zip(grads, outputs)):
        if g is not None and isinstance(o, torch.Tensor) and g.shape[1:] != o.shape:
            raise RuntimeError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each "
                f"grad_output as "
                f"the batch dimension. The sizes of the remaining dimensions are expected "
                f"to match the "
                f"shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{i}] has a "
                f"shape of {g.shape} and output[{i}] has a shape of {o.shape}. If you "
                f"only want some "
                f"tensors in `grad_output` to be considered batched, consider using vmap."
            )
    n = sizes.pop()
    rows = []
    for i in range(n):
        keep = retain_graph or create_graph or i + 1 < n
        rows.append(
            _C._run_backward(
                outputs,
                tuple(None if g is None else g[i] for g in grads),
                keep,
                create_graph,
                inputs,
                allow_unused,
                False,
            )
        )
    if not rows:
        return tuple(torch.zeros((0, *x.shape), dtype=x.dtype, device=x.device) for x in inputs)
    out = []
    for column in zip(*rows):
        if all(g is None for g in column):
            out.append(None)
            continue
        like = next(g for g in column if g is not None)
        out.append(torch.stack([torch.zeros_like(like) if g is None else g for g in column]))
    return tuple(out)


def _is_checkpoint_valid():
    return Variable._execution_engine.is_checkpoint_valid()
