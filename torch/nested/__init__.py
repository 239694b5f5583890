"""torch.nested: lists of tensors of unequal sizes as one tensor."""

import torch

from ._internal.nested_tensor import NestedTensor, StridedNestedTensor

__all__ = ["as_nested_tensor", "masked_select", "narrow", "nested_tensor",
           "nested_tensor_from_jagged", "to_padded_tensor"]


def _build(parts, layout, what):
    layout = torch.strided if layout is None else layout
    if layout == torch.strided:
        return StridedNestedTensor.of(parts)
    if layout == torch.jagged:
        return NestedTensor.of(parts)
    raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")


def _listed(items, what, dtype, device):
    if not isinstance(items, (list, tuple)) or isinstance(items, torch.Tensor):
        raise TypeError(
            f"Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in {what}")
    return [i.to(device=device, dtype=dtype) if isinstance(i, torch.Tensor)
            else torch.tensor(i, dtype=dtype, device=device) for i in items]


def nested_tensor(tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False,
                  pin_memory=False):
    """A nested tensor with a copy of the tensors (or lists of numbers) of a list.

    It is a leaf: the tensors' own history is left behind.

    Args:
        tensor_list: tensors of one rank.
        layout: ``torch.strided`` (the default) or ``torch.jagged``, where the sizes differ in one
            dimension only.

    Raises:
        TypeError: not a list. RuntimeError: tensors of several ranks.
    """
    if pin_memory:
        raise NotImplementedError("pin_memory of nested tensors needs an accelerator")
    parts = [p.detach() for p in _listed(tensor_list, "nested_tensor", dtype, device)]
    nested = _build(parts, layout, "nested_tensor")
    nested = nested.detached_copy()
    return nested.requires_grad_() if requires_grad else nested


def as_nested_tensor(ts, dtype=None, device=None, layout=None):
    """The same, keeping the history of the tensors; a tensor is taken apart along its first
    dimension."""
    if isinstance(ts, torch.Tensor) and ts.is_nested:
        return ts
    if isinstance(ts, torch.Tensor):
        ts = list(ts.to(device=device, dtype=dtype).unbind())
    if not isinstance(ts, (list, tuple)) or not all(isinstance(t, torch.Tensor) for t in ts):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a "
                        "list / tuple of tensors")
    return _build([t.to(device=device, dtype=dtype) for t in ts], layout, "as_nested_tensor")


def nested_tensor_from_jagged(values, offsets=None, lengths=None, jagged_dim=None,
                              min_seqlen=None, max_seqlen=None):
    """A jagged tensor over given memory: element i is ``values[offsets[i]:offsets[i + 1]]``.

    Args:
        values: the elements one after the other along dimension 0.
        offsets: where each begins, and the end. lengths: alone, how long each is.

    Raises:
        RuntimeError: neither is given.
    """
    if jagged_dim not in (None, 1):
        raise NotImplementedError("nested_tensor_from_jagged with jagged_dim other than 1")
    if offsets is None:
        if lengths is None:
            raise RuntimeError(
                "nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        zero = torch.zeros(1, dtype=lengths.dtype, device=lengths.device)
        offsets = torch.cat([zero, lengths.cumsum(0).to(lengths.dtype)])
    elif lengths is not None:
        raise NotImplementedError("nested_tensor_from_jagged with both offsets and lengths")
    return NestedTensor(values, offsets)


def narrow(tensor, dim, start, length, layout=torch.strided):
    """Slices of unequal length along dimension 1 of a batch, as a nested tensor.

    Args:
        tensor: a batch. dim: 1. start, length: numbers or one number for each element.
    """
    if dim != 1:
        raise RuntimeError("torch.nested.narrow requires dim=1")
    count = tensor.shape[0]

    def numbers(x):
        return x.tolist() if isinstance(x, torch.Tensor) else [x] * count

    parts = [tensor[i].narrow(0, s, n)
             for i, (s, n) in enumerate(zip(numbers(start), numbers(length)))]
    return _build(parts, layout, "narrow")


def masked_select(tensor, mask):
    """The elements of each row where the mask is true, as a jagged tensor."""
    if tensor.layout != torch.strided or mask.layout != torch.strided:
        raise RuntimeError("torch.nested.masked_select requires strided tensors")
    mask = mask.expand_as(tensor)
    return NestedTensor.of([t[m] for t, m in zip(tensor.unbind(), mask.unbind())])


def to_padded_tensor(input, padding, output_size=None, out=None):
    """A strided tensor of the elements of a nested one, filled up with `padding`.

    Args:
        input: a nested tensor. padding: a number.
        output_size: the size of the result, at least the largest sizes.
    """
    if not (isinstance(input, torch.Tensor) and input.is_nested):
        raise RuntimeError("to_padded_tensor(): expected a nested tensor")
    result = input.to_padded_tensor(padding, output_size)
    return result if out is None else out.copy_(result)
