"""Helpers that pickled files refer to by name, and small ones shared across the package.

The `_rebuild_*` functions are what a pickled tensor calls to come back; their names and arguments
are part of the file format.
"""

import contextlib
import sys
import threading
import traceback

import torch


class KeyErrorMessage(str):
    """A message whose repr is itself: `KeyError` shows the repr of its argument."""

    def __repr__(self):
        return self


class ExceptionWrapper:
    """Carries an exception, with its traceback as text, to another thread or process.

    Args:
        exc_info: as from `sys.exc_info`; that of the exception being handled by default.
        where: words for the message, such as ``"in DataLoader worker process 0"``.
    """

    def __init__(self, exc_info=None, where="in background"):
        if exc_info is None:
            exc_info = sys.exc_info()
        self.exc_type = exc_info[0]
        # The traceback as text: frames would keep everything alive, and cannot be pickled.
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raises the exception again, its message extended by the original traceback."""
        msg = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            msg = KeyErrorMessage(msg)
        elif getattr(self.exc_type, "message", None):
            # Some exceptions take their text only by this keyword.
            raise self.exc_type(message=msg)
        try:
            exception = self.exc_type(msg)
        except Exception:
            # The constructor wants other arguments.
            raise RuntimeError(msg) from None
        raise exception


def _parameter_class():
    """`torch.nn.Parameter` if `torch.nn` is in use, else None: no object can be one then."""
    return getattr(sys.modules.get("torch.nn.parameter"), "Parameter", None)


# ---------------------------------------------------------------- what pickled tensors call


def _check_span(untyped, itemsize, offset, size, stride):
    """Raises if a tensor of this layout would reach beyond the storage."""
    if len(size) != len(stride):
        raise RuntimeError("a pickled tensor has strides that do not fit its shape")
    if offset < 0 or any(n < 0 for n in size) or any(s < 0 for s in stride):
        raise RuntimeError("a pickled tensor has a negative size, stride or offset")
    if 0 in size:
        return
    end = (offset + 1 + sum((n - 1) * s for n, s in zip(size, stride))) * itemsize
    if end > untyped.nbytes():
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {itemsize} requiring a storage size of {end} are out of bounds for storage "
            f"of size {untyped.nbytes()}"
        )


def _set_storage(storage, dtype, offset, size, stride):
    untyped = getattr(storage, "_untyped_storage", storage)
    device = untyped.device
    if device.type != "meta":
        _check_span(untyped, dtype.itemsize, offset, size, stride)
    return torch.empty((0,), dtype=dtype, device=device).set_(untyped, offset, size, stride)


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor on a typed storage."""
    return _set_storage(storage, storage.dtype, storage_offset, size, stride)


def get_tensor_metadata(tensor):
    """What a tensor's layout does not say: its conjugate and negative bits, where set."""
    metadata = {}
    if tensor.is_conj():
        metadata["conj"] = True
    if tensor.is_neg():
        metadata["neg"] = True
    return metadata


# In the older format data follow the pickle. While such a file is read, `_late.calls` is a list of
# (function, arguments) to be called when they are there.
_late = threading.local()


@contextlib.contextmanager
def late_calls():
    """Collects, for the thread, the calls that need the data; gives the function that does them."""
    calls = _late.calls = []

    def finish():
        with torch.no_grad():
            for function, *args in calls:
                function(*args)

    try:
        yield finish
    finally:
        _late.calls = None


def _copy_with_metadata(result, source, metadata):
    result.copy_(with_tensor_metadata(source, metadata))


def with_tensor_metadata(tensor, metadata):
    """The tensor with the bits that `get_tensor_metadata` returned."""
    calls = getattr(_late, "calls", None)
    if calls is not None:
        result = torch.empty_like(tensor)
        calls.append((_copy_with_metadata, result, tensor, metadata))
        return result
    for name, value in metadata.items():
        if name == "conj":
            tensor = torch.conj(tensor) if value else tensor
        elif name == "neg":
            # A core without lazy negation does it at once.
            tensor = getattr(torch, "_neg_view", torch.neg)(tensor) if value else tensor
        else:
            raise RuntimeError(f"unknown tensor metadata {name!r}")
    return tensor


def _finish(tensor, requires_grad, backward_hooks, metadata):
    if metadata:
        tensor = with_tensor_metadata(tensor, metadata)
    tensor.requires_grad = requires_grad
    # Kept for files of old versions, which saved hooks.
    if backward_hooks:
        tensor._backward_hooks = backward_hooks
    return tensor


def _rebuild_tensor_v2(
    storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None
):
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    return _finish(tensor, requires_grad, backward_hooks, metadata)


def _rebuild_tensor_v3(
    storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None
):
    # The storage is untyped: for dtypes that have no storage class of their own.
    tensor = _set_storage(storage, dtype, storage_offset, size, stride)
    return _finish(tensor, requires_grad, backward_hooks, metadata)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    parameter = torch.nn.Parameter(data, requires_grad)
    if backward_hooks:
        parameter._backward_hooks = backward_hooks
    return parameter


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    return _set_obj_state(parameter, state)


def _get_obj_state(obj):
    """The Python attributes of a tensor, as pickle wants them; None or {} if there are none."""
    import copyreg

    getstate = getattr(type(obj), "__getstate__", None)
    if getstate is not None and getstate is not getattr(object, "__getstate__", None):
        return obj.__getstate__()
    names = copyreg._slotnames(type(obj))
    state = dict(obj.__dict__) or None if not names else dict(obj.__dict__)
    if names:
        slots = {n: getattr(obj, n) for n in names if hasattr(obj, n)}
        return (state, slots)
    return state


def _set_obj_state(obj, state):
    """Restores what `_get_obj_state` returned."""
    slots = None
    if isinstance(state, tuple):
        if len(state) != 2:
            raise RuntimeError(f"Invalid serialized state: {state}")
        state, slots = state
    if state:
        for name, value in state.items():
            setattr(obj, name, value)
    if slots:
        for name, value in slots.items():
            setattr(obj, name, value)
    return obj


def _rebuild_from_type(func, type, args, state):
    """A tensor subclass from before the present format."""
    tensor = func(*args).as_subclass(type)
    tensor.__dict__ = state
    return tensor


def _rebuild_from_type_v2(func, new_type, args, state):
    """A tensor subclass, or a tensor with Python attributes; `torch._tensor` has this too."""
    tensor = func(*args)
    if type(tensor) is not new_type:
        tensor = tensor.as_subclass(new_type)
    setstate = getattr(type(tensor), "__setstate__", None)
    if setstate is not None and setstate is not torch.Tensor.__setstate__:
        tensor.__setstate__(state)
        return tensor
    return _set_obj_state(tensor, state)


def _rebuild_sparse_tensor(layout, data):
    calls = getattr(_late, "calls", None)
    check = calls is None
    if not check:
        calls.append((_rebuild_sparse_tensor, layout, data))
    if layout == torch.sparse_coo:
        # Files of old versions do not say whether the indices are sorted and unique.
        indices, values, size, *rest = data
        coalesced = rest[0] if rest else None
        return torch.sparse_coo_tensor(
            indices, values, size, check_invariants=check, is_coalesced=coalesced
        )
    if layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
        compressed, plain, values, size = data
        return torch.sparse_compressed_tensor(
            compressed, plain, values, size, layout=layout, check_invariants=check
        )
    raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")


def _rebuild_nested_tensor(buffer, sizes, strides, storage_offsets):
    return torch._nested_view_from_buffer(buffer, sizes, strides, storage_offsets)


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    return torch.empty_strided(
        size, stride, dtype=dtype, device="meta", requires_grad=requires_grad
    )


def _rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad):
    tensor = data.to(device=device, dtype=dtype)
    tensor.requires_grad = requires_grad
    return tensor


def _rebuild_device_tensor_from_numpy(data, dtype, device, requires_grad):
    tensor = torch.from_numpy(data).to(dtype=dtype, device=device)
    tensor.requires_grad = requires_grad
    return tensor


_rebuild_xla_tensor = _rebuild_device_tensor_from_numpy


def _rebuild_wrapper_subclass(
    cls, dtype, size, stride, storage_offset, layout, device, requires_grad
):
    return torch.Tensor._make_wrapper_subclass(
        cls,
        size,
        strides=stride,
        dtype=dtype,
        storage_offset=storage_offset,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def _rebuild_qtensor(
    storage, storage_offset, size, stride, quantizer_params, requires_grad, backward_hooks
):
    scheme = quantizer_params[0]
    untyped = getattr(storage, "_untyped_storage", storage)
    _check_span(untyped, storage.dtype.itemsize, storage_offset, size, stride)
    if scheme == torch.per_tensor_affine:
        _, scale, zero_point = quantizer_params
        tensor = torch._empty_affine_quantized(
            size, scale=scale, zero_point=zero_point, dtype=storage.dtype, device=storage.device
        )
    elif scheme in (torch.per_channel_affine, torch.per_channel_affine_float_qparams):
        _, scales, zero_points, axis = quantizer_params
        if type(scales) is list:
            exact = scheme == torch.per_channel_affine
            scales = torch.tensor(scales, dtype=torch.double if exact else torch.float)
            zero_points = torch.tensor(zero_points, dtype=torch.long if exact else torch.float)
        tensor = torch._empty_per_channel_affine_quantized(
            size, scales=scales, zero_points=zero_points, axis=axis, dtype=storage.dtype,
            device=storage.device,
        )
    else:
        raise RuntimeError(f"Can't deserialize quantized tensor with qscheme {scheme}")
    tensor.set_(storage, storage_offset, size, stride)
    tensor.requires_grad = requires_grad
    if backward_hooks:
        tensor._backward_hooks = backward_hooks
    return tensor


# ---------------------------------------------------------------- how tensors pickle themselves


def _hooks():
    from collections import OrderedDict

    return OrderedDict()


def _reduce_dense(tensor):
    """(function, arguments) for a strided tensor with memory."""
    from .storage import TypedStorage, _dtype_to_storage_type_map

    untyped = tensor.untyped_storage()
    typed = tensor.dtype in _dtype_to_storage_type_map()
    if typed:
        storage = TypedStorage(wrap_storage=untyped, dtype=tensor.dtype, _internal=True)
    else:
        storage = untyped
    args = (
        storage,
        tensor.storage_offset(),
        tuple(tensor.size()),
        tensor.stride(),
        tensor.requires_grad,
        _hooks(),
    )
    metadata = get_tensor_metadata(tensor)
    if not typed:
        args += (tensor.dtype,)
    if metadata:
        args += (metadata,)
    return (_rebuild_tensor_v2 if typed else _rebuild_tensor_v3), args


def _reduce_quantized(tensor):
    from .storage import TypedStorage

    if tensor.qscheme() == torch.per_tensor_affine:
        params = (torch.per_tensor_affine, tensor.q_scale(), tensor.q_zero_point())
    else:
        params = (
            tensor.qscheme(),
            tensor.q_per_channel_scales(),
            tensor.q_per_channel_zero_points(),
            tensor.q_per_channel_axis(),
        )
    storage = TypedStorage(
        wrap_storage=tensor.untyped_storage(), dtype=tensor.dtype, _internal=True
    )
    return _rebuild_qtensor, (
        storage, tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), params,
        tensor.requires_grad, _hooks(),
    )


def _reduce_sparse(tensor):
    layout = tensor.layout
    if layout == torch.sparse_coo:
        data = (tensor._indices(), tensor._values(), tensor.size(), tensor.is_coalesced())
    elif layout in (torch.sparse_csr, torch.sparse_bsr):
        data = (tensor.crow_indices(), tensor.col_indices(), tensor.values(), tensor.size())
    else:
        data = (tensor.ccol_indices(), tensor.row_indices(), tensor.values(), tensor.size())
    return _rebuild_sparse_tensor, (layout, data)


def _reduce_plain(tensor):
    """(function, arguments) that rebuild a tensor without its class and Python attributes."""
    if tensor.layout != torch.strided:
        return _reduce_sparse(tensor)
    if tensor.is_quantized:
        return _reduce_quantized(tensor)
    if tensor.device.type == "meta":
        return _rebuild_meta_tensor_no_storage, (
            tensor.dtype, tuple(tensor.size()), tensor.stride(), tensor.requires_grad,
        )
    return _reduce_dense(tensor)


def _reduce_tensor(tensor, proto):
    """`Tensor.__reduce_ex__`."""
    function, args = _reduce_plain(tensor)
    state = _get_obj_state(tensor)
    if type(tensor) is torch.Tensor and not state:
        return function, args
    from ._tensor import _rebuild_from_type_v2 as rebuild

    return rebuild, (function, type(tensor), args, state)


def _reduce_parameter(parameter, proto):
    """`Parameter.__reduce_ex__`."""
    state = _get_obj_state(parameter)
    args = (parameter.data, parameter.requires_grad, _hooks())
    if not state:
        return _rebuild_parameter, args
    return _rebuild_parameter_with_state, args + (state,)


# ---------------------------------------------------------------- small helpers


def _element_size(dtype):
    """Bytes per element of a dtype."""
    return dtype.itemsize


def _import_dotted_name(name):
    """The object that a dotted name leads to."""
    first, *rest = name.split(".")
    obj = __import__(first)
    for part in rest:
        obj = getattr(obj, part)
    return obj


def _flatten_dense_tensors(tensors):
    """All tensors, one after the other, as one 1-D tensor."""
    return torch.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of a flat tensor in the shapes of `tensors`."""
    sizes = [t.numel() for t in tensors]
    return tuple(part.view_as(t) for part, t in zip(flat.split(sizes), tensors))


def _take_tensors(tensors, size_limit):
    """Groups tensors of one type into lists of at most `size_limit` bytes."""
    groups = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        group, total = groups.get(tensor.type(), ([], 0))
        if group and total + size > size_limit:
            yield group
            group, total = [], 0
        group.append(tensor)
        groups[tensor.type()] = (group, total + size)
    for group, _ in groups.values():
        if group:
            yield group


def _reorder_tensors_as(tensors, ordered_tensors):
    """`tensors`, permuted so that their types come in the order of `ordered_tensors`."""
    queues = {}
    for tensor in tensors:
        queues.setdefault(tensor.type(), []).append(tensor)
    iterators = {kind: iter(queue) for kind, queue in queues.items()}
    return tuple(next(iterators[tensor.type()]) for tensor in ordered_tensors)


def _get_device_index(device, optional=False, allow_cpu=False):
    """The index of a device given as an int, a string or a `torch.device`; -1 for the CPU."""
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if not allow_cpu and device.type == "cpu":
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        index = -1 if device.type == "cpu" else device.index
    else:
        index = device if isinstance(device, int) else None
    if index is None:
        if not optional:
            raise ValueError(
                f"Expected a torch.device with a specified index or an integer, but got:{device}"
            )
        return 0
    return index


def _handle_complex(tensor):
    """The real view of a complex tensor; others as they are."""
    lazy = getattr(sys.modules.get("torch.nn.parameter"), "UninitializedParameter", ())
    is_complex = not isinstance(tensor, lazy) and tensor.is_complex()
    return torch.view_as_real(tensor) if is_complex else tensor


class _ClassPropertyDescriptor:
    def __init__(self, fget, fset=None):
        self.fget = fget

    def __get__(self, instance, owner=None):
        if owner is None:
            owner = type(instance)
        return self.fget.__get__(instance, owner)()


def classproperty(func):
    """A read-only property of the class itself."""
    if not isinstance(func, (classmethod, staticmethod)):
        func = classmethod(func)
    return _ClassPropertyDescriptor(func)


def is_compiling():
    """Whether `torch.compile` or `torch.export` is tracing."""
    return torch.compiler.is_compiling()


def _get_available_device_type():
    """The name of the accelerator in use; None with only a CPU."""
    return "cuda" if torch.cuda.is_available() else None


def _get_all_device_indices():
    """The indices of all accelerators."""
    return list(range(torch.cuda.device_count()))


def cpu_count():
    """How many cores this process may use."""
    import os

    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
