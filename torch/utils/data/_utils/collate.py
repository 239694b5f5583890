"""From samples to batches: `default_collate`, and `default_convert` for loaders without batching.

Within a worker process tensors are stacked straight into memory shared with the parent (see
`arena.py`), which spares a copy.
"""

import collections
import copy
import re

import torch

np_str_obj_array_pattern = re.compile(r"[SaUO]")

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, "
    "dicts or lists; found {}"
)

# Set in worker processes: (shape, dtype) -> an empty tensor in shared memory, or None.
_shared_empty = None


def default_convert(data):
    """Turns numpy arrays and scalars inside nested containers into tensors; keeps the rest."""
    kind = type(data)
    if isinstance(data, torch.Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        if kind.__name__ == "ndarray" and np_str_obj_array_pattern.search(data.dtype.str):
            return data
        return torch.as_tensor(data)
    if isinstance(data, (int, float, str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _like_mapping(data, {k: default_convert(data[k]) for k in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*[default_convert(d) for d in data])
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, collections.abc.Sequence):
        return _like_sequence(data, [default_convert(d) for d in data])
    return data


def _like_mapping(like, values):
    """`values` in the type of `like` where that can be built, else a dict."""
    kind = type(like)
    if kind is dict:
        return values
    try:
        if isinstance(like, collections.abc.MutableMapping):
            # Constructors of user types may ask for more than the items: copy and overwrite.
            clone = copy.copy(like)
            clone.update(values)
            return clone
        return kind(values)
    except TypeError:
        return values


def _like_sequence(like, values):
    """`values` in the type of `like` where that can be built, else a list."""
    kind = type(like)
    if kind is list:
        return values
    try:
        if isinstance(like, collections.abc.MutableSequence):
            clone = copy.copy(like)
            for i, value in enumerate(values):
                clone[i] = value
            return clone
        return kind(values)
    except TypeError:
        return values


def collate(batch, *, collate_fn_map=None):
    """Collates a list of samples with the functions of `collate_fn_map`.

    Args:
        batch: the samples.
        collate_fn_map: type, or tuple of types, to ``fn(batch, *, collate_fn_map)``. Containers
            are descended into; a type is looked up exactly first, then by `isinstance` in order.

    Raises:
        TypeError: no function for an element. RuntimeError: sequences of unequal length.
    """
    elem = batch[0]
    kind = type(elem)
    if collate_fn_map is not None:
        fn = collate_fn_map.get(kind)
        if fn is not None:
            return fn(batch, collate_fn_map=collate_fn_map)
        for key, fn in collate_fn_map.items():
            if isinstance(elem, key):
                return fn(batch, collate_fn_map=collate_fn_map)
    if isinstance(elem, collections.abc.Mapping):
        columns = {
            key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map) for key in elem
        }
        return _like_mapping(elem, columns)
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return kind(*[collate(c, collate_fn_map=collate_fn_map) for c in zip(*batch)])
    if isinstance(elem, collections.abc.Sequence):
        size = len(elem)
        if not all(len(e) == size for e in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(c, collate_fn_map=collate_fn_map) for c in zip(*batch)]
        return columns if isinstance(elem, tuple) else _like_sequence(elem, columns)
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Stacks tensors along a new first dimension."""
    elem = batch[0]
    if elem.layout is not torch.strided:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately."
        )
    if elem.is_nested:
        raise RuntimeError(
            "Batches of nested tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately."
        )
    if _shared_empty is not None and type(elem) is torch.Tensor and elem.device.type == "cpu":
        out = _shared_empty((len(batch), *elem.shape), elem.dtype)
        if out is not None:
            return torch.stack(batch, 0, out=out)
    return torch.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Stacks numpy arrays (0-d ones too) as tensors."""
    elem = batch[0]
    if np_str_obj_array_pattern.search(elem.dtype.str) is not None:
        raise TypeError(default_collate_err_msg_format.format(elem.dtype))
    return collate([torch.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """A 1-D tensor of numpy scalars."""
    return torch.as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map=None):
    """A 1-D float64 tensor of Python floats."""
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """A 1-D tensor of Python ints (int64) or bools."""
    return torch.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Strings and bytes stay a list."""
    return batch


default_collate_fn_map = {torch.Tensor: collate_tensor_fn}


def _add_numpy():
    """Enters numpy's types. Called once numpy is loaded: no array can exist before."""
    import numpy

    scalars = (numpy.bool_, numpy.number, numpy.object_)
    rest = dict(default_collate_fn_map)
    tensor_fn = rest.pop(torch.Tensor, None)
    default_collate_fn_map.clear()
    if tensor_fn is not None:
        default_collate_fn_map[torch.Tensor] = tensor_fn
    default_collate_fn_map[numpy.ndarray] = collate_numpy_array_fn
    default_collate_fn_map[scalars] = collate_numpy_scalar_fn
    default_collate_fn_map.update(rest)


default_collate_fn_map[float] = collate_float_fn
default_collate_fn_map[int] = collate_int_fn
default_collate_fn_map[str] = collate_str_fn
default_collate_fn_map[bytes] = collate_str_fn

_numpy_known = False


def default_collate(batch):
    """Makes one batch of a list of samples.

    Tensors and numpy arrays are stacked, numbers become a 1-D tensor (float64 for floats), strings
    stay a list; mappings, tuples and lists are collated member by member.

    Raises:
        TypeError: samples of any other type.
    """
    global _numpy_known
    if not _numpy_known:
        import sys

        if "numpy" in sys.modules:
            _add_numpy()
            _numpy_known = True
    return collate(batch, collate_fn_map=default_collate_fn_map)
