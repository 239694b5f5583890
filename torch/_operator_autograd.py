"""Gradients of operators that are added at run time: a node for each, made when first needed."""

import threading
import warnings

import torch
from torch._operators import tensors_in

__all__ = ["apply", "make_function", "mark_unknown"]


def _flatten(values):
    """Lists of tensors spread out, as a custom Function wants its inputs and outputs."""
    flat, spec = [], []
    for v in values:
        if isinstance(v, (list, tuple)) and any(isinstance(x, torch.Tensor) for x in v):
            spec.append((type(v) if type(v) in (list, tuple) else list, len(v)))
            flat.extend(v)
        else:
            spec.append(None)
            flat.append(v)
    return flat, tuple(spec)


def _unflatten(flat, spec):
    out, at = [], 0
    for entry in spec:
        if entry is None:
            out.append(flat[at])
            at += 1
        else:
            kind, n = entry
            out.append(kind(flat[at : at + n]))
            at += n
    return out


def _flat_gradients(op, result, spec):
    """What `backward` returned as one gradient for each flat input."""
    result = result if isinstance(result, tuple) else (result,)
    if len(result) > len(spec) and any(r is not None for r in result[len(spec):]):
        raise RuntimeError(f"function {op.schema.name} returned an incorrect number of gradients "
                           f"(expected {len(spec)}, got {len(result)})")
    out = []
    for entry, g in zip(spec, result + (None,) * len(spec)):
        if entry is None:
            out.append(g)
        elif g is None:
            out.extend([None] * entry[1])
        elif isinstance(g, (list, tuple)) and len(g) == entry[1]:
            out.extend(g)
        else:
            raise RuntimeError(
                f"Expected the return from backward to be of the same structure as the inputs: a "
                f"list of {entry[1]} gradients for a list of {entry[1]} tensors, got {type(g)}")
    return tuple(out) + (None,)  # the last input is the structure


def make_function(op):
    """The `torch.autograd.Function` of an operator."""
    title = f"{op.schema.name.replace('::', '.')}.{op.schema.overload_name or 'default'}"

    class Generated:
        @staticmethod
        def forward(ctx, *inputs):
            spec = ctx._spec = inputs[-1]
            args = _unflatten(inputs[:-1], spec)
            result = op.below_autograd(args)
            if op.setup_context is not None:
                positional, keyword = op.schema.split(args)
                extra = {"keyword_only_inputs": keyword} if keyword else {}
                op.setup_context(ctx=ctx, inputs=positional, output=result, **extra)
            ctx._single = not isinstance(result, (tuple, list))
            ctx._list = isinstance(result, list) and len(op.schema.returns) == 1
            flat, ctx._out = _flatten([result] if ctx._single or ctx._list else result)
            _made.structure = (ctx._single, ctx._list, ctx._out)
            return flat[0] if ctx._single else tuple(flat)

        @staticmethod
        def backward(ctx, *grads):
            if op.backward is None:
                raise RuntimeError(f"Trying to backward through {title} but no autograd formula "
                                   "was registered. Please use register_autograd to add one.")
            return _flat_gradients(op, op.backward(ctx, *_unflatten(grads, ctx._out)), ctx._spec)

    name = f"GeneratedBackwardFor_{title.replace('.', '_')}"
    return type(name, (torch.autograd.Function,),
                {"forward": Generated.__dict__["forward"],
                 "backward": Generated.__dict__["backward"]})


_made = threading.local()  # .structure of the result that forward just made, for apply


def apply(op, args):
    flat, spec = _flatten(args)
    result = op._node.apply(*flat, spec)
    single, is_list, out = _made.structure
    if single:
        return result
    values = _unflatten(result if isinstance(result, tuple) else (result,), out)
    return values[0] if is_list else tuple(values)


class WarnNotImplemented(torch.autograd.Function):
    @staticmethod
    def forward(ctx, name, value, *inputs):
        ctx._name, ctx._count = name, len(inputs)
        return value.view_as(value)

    @staticmethod
    def backward(ctx, grad):
        warnings.warn(
            f"{ctx._name}: an autograd kernel was not registered to the Autograd key(s) but we "
            "are trying to backprop through it. This may lead to silently incorrect behavior. "
            "This behavior is deprecated and will be removed in a future version of PyTorch.",
            UserWarning, stacklevel=2)
        return (None,) * (ctx._count + 2)


def mark_unknown(op, args, result):
    """Results of an operator without a gradient warn when backward comes to them."""
    inputs = [t for t in tensors_in(args) if t.requires_grad]
    same = {id(t) for t in tensors_in(args)}

    def mark(value):
        if isinstance(value, torch.Tensor):
            plain = not value.requires_grad and id(value) not in same
            if plain and (value.is_floating_point() or value.is_complex()):
                return WarnNotImplemented.apply(op.name, value, *inputs)
            return value
        if isinstance(value, (tuple, list)):
            return type(value)(mark(v) for v in value)
        return value

    return mark(result)
