"""The methods of `torch.Tensor` that are easier said in Python.

The class itself is made by the core (`torch._C`); at the end of this file the functions below are
put into it.
"""

import torch
from torch import _C

Tensor = _C.Tensor


def _rebuild_from_type_v2(func, new_type, args, state):
    from torch._utils import _rebuild_from_type_v2 as rebuild

    return rebuild(func, new_type, args, state)


def _rebuild_from_type(func, type, args, dict):
    from torch._utils import _rebuild_from_type as rebuild

    return rebuild(func, type, args, dict)


def _overridden(function, args, kwargs=None):
    """(True, result) when an argument or a mode takes the call over."""
    if not _C._has_torch_function(args):
        return False, None
    from torch.overrides import handle_torch_function

    return True, handle_torch_function(function, args, *args, **(kwargs or {}))


# ---------------------------------------------------------------- text


def __repr__(self, *, tensor_contents=None):
    if _C._has_torch_function_unary(self):
        taken, result = _overridden(Tensor.__repr__, (self,), {"tensor_contents": tensor_contents})
        if taken:
            return result
    from torch._tensor_str import _str

    return _str(self, tensor_contents=tensor_contents)


def __format__(self, format_spec):
    if _C._has_torch_function_unary(self):
        taken, result = _overridden(Tensor.__format__, (self, format_spec))
        if taken:
            return result
    if self.dim() == 0 and not self.is_meta and issubclass(type(self), Tensor):
        return self.item().__format__(format_spec)
    return object.__format__(self, format_spec)


def __dir__(self):
    names = set(dir(type(self))) | set(self.__dict__)
    names.discard("volatile")
    if not self.is_cuda:
        names.discard("__cuda_array_interface__")
    return sorted(n for n in names if not n[:1].isdigit())


# ---------------------------------------------------------------- copying and pickling


def __deepcopy__(self, memo):
    if _C._has_torch_function_unary(self):
        taken, result = _overridden(Tensor.__deepcopy__, (self, memo))
        if taken:
            return result
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    with torch.no_grad():
        new = _deep_copy_data(self, memo)
    if type(self) is not Tensor and type(new) is not type(self):
        new = Tensor._make_subclass(type(self), new)
    if self.requires_grad:
        new.requires_grad_()
    if self.grad is not None:
        new.grad = self.grad.__deepcopy__(memo)
    if self.__dict__:
        from copy import deepcopy

        new.__dict__ = deepcopy(self.__dict__, memo)
    memo[id(self)] = new
    return new


def _deep_copy_data(self, memo):
    """Same strides over a copy of the whole storage, so that views stay views of each other."""
    if self.layout != torch.strided or self.is_meta:
        return self.clone() if not self.is_meta else torch.empty_strided(
            self.size(), self.stride(), dtype=self.dtype, device=self.device
        )
    storage = self.untyped_storage().__deepcopy__(memo)
    new = torch.empty(0, dtype=self.dtype, device=self.device)
    new.set_(storage, self.storage_offset(), self.size(), self.stride())
    return new


def __reduce_ex__(self, proto):
    if _C._has_torch_function_unary(self):
        taken, result = _overridden(Tensor.__reduce_ex__, (self, proto))
        if taken:
            return result
    from torch._utils import _reduce_tensor

    return _reduce_tensor(self, proto)


def __setstate__(self, state):
    if len(state) == 4:
        self.set_(*state)
        return
    if len(state) == 5:
        self.data, state = state[0], (state[3], state[4], state[2])
    self.requires_grad, _, self._backward_hooks = state


# ---------------------------------------------------------------- autograd


def reinforce(self, reward):
    raise RuntimeError(
        "reinforce() was removed. Use torch.distributions instead: the log-probability of the "
        "action taken, times the reward, is the loss to call backward() on."
    )


# ---------------------------------------------------------------- sequences and numbers


def __iter__(self):
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def __contains__(self, element):
    if _C._has_torch_function_unary(self):
        taken, result = _overridden(Tensor.__contains__, (self, element))
        if taken:
            return result
    if isinstance(element, (Tensor, int, float, complex, bool)):
        return bool((element == self).any().item())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def __reversed__(self):
    return self if self.dim() == 0 else self.flip(0)


def apply_(self, callable):
    """Replaces every element by ``callable(element)``. CPU only, slow. Returns self."""
    if self.requires_grad:
        raise RuntimeError("Can't call apply_() on Variable that requires grad. Use "
                           "var.detach().apply_() instead.")
    if self.device.type != "cpu":
        raise TypeError("apply_ is only implemented on CPU tensors")
    values = [callable(x) for x in self.reshape(-1).tolist()]
    return self.copy_(torch.tensor(values, dtype=self.dtype).reshape(self.shape))


def _map(self, others, callable, name):
    for t in (self, *others):
        if t.requires_grad:
            raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use "
                               f"var.detach().{name}() instead.")
        if t.dtype != self.dtype:
            raise TypeError(f"{name}: expected tensors of {self.dtype}, but got {t.dtype}")
    columns = [t.expand_as(self).reshape(-1).tolist() for t in others]
    values = [callable(*x) for x in zip(self.reshape(-1).tolist(), *columns)]
    return self.copy_(torch.tensor(values, dtype=self.dtype).reshape(self.shape))


def map_(self, tensor, callable):
    """Replaces every element by ``callable(element, element of tensor)``. Returns self."""
    return _map(self, (tensor,), callable, "map_")


def map2_(self, x, y, callable):
    """Replaces every element by ``callable(element, element of x, element of y)``."""
    return _map(self, (x, y), callable, "map2_")


# ---------------------------------------------------------------- functions of torch as methods


def _method_of(name, path="torch.functional"):
    """``x.name(...)`` as ``torch.name(x, ...)``, where the core has no such method."""

    def method(self, *args, **kwargs):
        from importlib import import_module

        return getattr(import_module(path), name)(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"The same as ``torch.{name}(self, ...)``."
    return method


_FUNCTIONAL = ("norm", "unique", "unique_consecutive", "stft", "istft", "lu")
_REMOVED = ("symeig", "eig", "solve", "lstsq", "cholesky", "qr")


def resize(self, *sizes):
    """Another shape for the same number of elements (deprecated: use `reshape`)."""
    import warnings

    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    if len(sizes) == 1 and not isinstance(sizes[0], int):
        sizes = tuple(sizes[0])
    wanted = 1
    for n in sizes:
        wanted *= n
    if wanted != self.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({wanted} elements in total), but "
            f"the given tensor has a size of {'x'.join(map(str, self.shape))} ({self.numel()} "
            "elements). autograd's resize can only change the shape of a given tensor, while "
            "preserving the number of elements. "
        )
    return self.contiguous().view(sizes)


def resize_as(self, tensor):
    """`resize` to the shape of another tensor."""
    return resize(self, *tensor.shape)


def is_nonzero(self):
    """Is the one element other than zero?"""
    return bool(self)


# ---------------------------------------------------------------- other libraries


def numpy(self, *, force=False):
    """A NumPy array over the same memory.

    `force` detaches, brings to the CPU and resolves lazy conjugation first; without it these are
    errors: RuntimeError for a tensor that requires grad, TypeError for other devices and layouts.
    """
    if _C._has_torch_function_unary(self):
        taken, result = _overridden(Tensor.numpy, (self,), {"force": force})
        if taken:
            return result
    if self.layout != torch.strided:
        name = {torch.sparse_coo: "Sparse", torch.sparse_csr: "SparseCsr",
                torch.sparse_csc: "SparseCsc", torch.sparse_bsr: "SparseBsr",
                torch.sparse_bsc: "SparseBsc"}.get(self.layout, str(self.layout))
        raise TypeError(
            f"can't convert {name} layout tensor to numpy. Use Tensor.to_dense() first."
        )
    if self.device.type != "cpu" and not force:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy "
            "the tensor to host memory first."
        )
    if self.requires_grad and not force and torch.is_grad_enabled():
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return _C._to_numpy(self.detach().cpu() if force else self)


def __array__(self, dtype=None, copy=None):
    if _C._has_torch_function_unary(self):
        taken, result = _overridden(Tensor.__array__, (self,), {"dtype": dtype})
        if taken:
            return result
    array = self.numpy()
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    return array.copy() if copy else array


def __array_wrap__(self, array, context=None, return_scalar=False):
    if array.dtype == bool:
        array = array.astype("uint8")
    return torch.from_numpy(array)


def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over this memory; versioned when ``max_version`` allows it."""
    if self.requires_grad:
        raise BufferError(
            "Can't export tensors that require gradient, use tensor.detach()"
        )
    if self.is_meta or self.layout != torch.strided:
        raise BufferError("Can't export to dlpack a tensor without strided CPU memory")
    if stream not in (-1, None) and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    source = self.clone() if copy else self
    versioned = max_version is not None and max_version[0] >= 1
    return _C._to_dlpack(source, versioned, bool(copy))


def __dlpack_device__(self):
    """(device type, index) as DLPack counts them."""
    from torch.utils.dlpack import DLDeviceType

    if self.device.type != "cpu":
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return DLDeviceType.kDLCPU, 0


def _cuda_array_interface(self):
    raise AttributeError(
        f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} If CUDA data "
        "is required use tensor.cuda() to copy tensor to device memory."
    )


def _volatile(self):
    import warnings

    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


# ---------------------------------------------------------------- types, devices, memory


def _type_method(self, dtype=None, non_blocking=False, **kwargs):
    """Without argument the name, such as ``"torch.FloatTensor"``; else a converted tensor."""
    if dtype is None:
        middle = "" if self.device.type == "cpu" else self.device.type + "."
        if self.layout == torch.sparse_coo:
            middle += "sparse."
        return f"torch.{middle}{_TYPE_NAMES.get(self.dtype, 'Undefined')}Tensor"
    if isinstance(dtype, str):
        name = dtype[6:] if dtype.startswith("torch.") else ""
        if not name.endswith("Tensor") or name[:-6] not in _NAMED_TYPES:
            raise ValueError(f"invalid type: '{dtype}'")
        return self.to(_NAMED_TYPES[name[:-6]], non_blocking)
    if hasattr(dtype, "dtype") and not isinstance(dtype, torch.dtype):
        dtype = dtype.dtype
    if dtype is Tensor:
        dtype = torch.get_default_dtype()
    if not isinstance(dtype, torch.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return self.to(dtype, non_blocking)


_NAMED_TYPES = {
    "Float": torch.float32, "Double": torch.float64, "Half": torch.float16,
    "BFloat16": torch.bfloat16, "Byte": torch.uint8, "Char": torch.int8, "Short": torch.int16,
    "Int": torch.int32, "Long": torch.int64, "Bool": torch.bool,
    "ComplexFloat": torch.complex64, "ComplexDouble": torch.complex128,
    "ComplexHalf": torch.complex32, "UInt16": torch.uint16, "UInt32": torch.uint32,
    "UInt64": torch.uint64, "Float8_e5m2": torch.float8_e5m2,
    "Float8_e4m3fn": torch.float8_e4m3fn,
}
_TYPE_NAMES = {v: k for k, v in _NAMED_TYPES.items()}


def type_as(self, other):
    """This tensor converted to the dtype and device of `other`."""
    return self.to(other)


def to_sparse_coo(self):
    """A copy in the coordinate layout."""
    return self.to_sparse()


def get_device(self):
    """The index of an accelerator's device; -1 on the CPU."""
    index = self.device.index
    return -1 if index is None else index


def ipu(self, device=None, non_blocking=False):
    raise RuntimeError("this build has no IPU support")


def xpu(self, device=None, non_blocking=False):
    raise AssertionError("Torch not compiled with XPU enabled")


def mtia(self, device=None, non_blocking=False):
    raise RuntimeError("this build has no MTIA support")


def pin_memory(self, device=None):
    raise RuntimeError("Cannot access accelerator device when none is available.")


def dequantize(self):
    """This tensor as float32; quantized tensors do not exist here."""
    return self.float()


def _backend_method(name):
    def method(self, *args, **kwargs):
        from torch._other_backends import function

        return function(name)(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = "For quantized tensors, which do not exist here: NotImplementedError."
    return method


def fill_diagonal_(self, fill_value, wrap=False):
    """Writes a number on the main diagonal, where all indices are equal, in place.

    With `wrap`, the diagonal of a tall matrix starts again after an empty row.
    """
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step, rows, columns = sum(self.stride()), self.size(0), self.size(1)
    count, start = min(rows, columns), self.storage_offset()
    self.as_strided((count,), (step,), start).fill_(fill_value)
    if wrap and count > 0 and self.dim() == 2 and rows > columns + 1:
        block = (columns + 1) * self.stride(0)  # what the diagonal starts again after
        for at in range(1, -(-rows // (columns + 1))):
            left = min(columns, rows - at * (columns + 1))
            self.as_strided((left,), (step,), start + at * block).fill_(fill_value)
    return self


def storage(self):
    """The memory as a TypedStorage."""
    from torch.storage import _warn_typed_storage_removal

    _warn_typed_storage_removal(stacklevel=2)
    return self._typed_storage()


def _typed_storage(self):
    from torch.storage import TypedStorage

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)


def storage_type(self):
    """The class of the typed storage."""
    return self._typed_storage()._get_legacy_storage_class()


def is_shared(self):
    """Is the memory visible to other processes?"""
    return self.untyped_storage().is_shared()


def share_memory_(self):
    """Moves the memory to where other processes can map it. Returns self."""
    self.untyped_storage().share_memory_()
    return self


def record_stream(self, s):
    raise RuntimeError("record_stream() needs an accelerator, and this build has none")


def const_data_ptr(self):
    """`data_ptr` for reading only."""
    return self.data_ptr()


def dim_order(self, *, ambiguity_check=False):
    """The dimensions from the outermost in memory to the innermost."""
    order = sorted(range(self.dim()), key=lambda d: (-self.stride(d), d))
    if ambiguity_check:
        seen = set()
        for d in range(self.dim()):
            if self.size(d) > 1 and self.stride(d) in seen:
                raise RuntimeError("The tensor does not have unique dim order.")
            seen.add(self.stride(d))
    return tuple(order)


def is_set_to(self, tensor):
    """Same memory, offset, sizes and strides?"""
    return (
        self.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
        and self.storage_offset() == tensor.storage_offset()
        and self.size() == tensor.size()
        and self.stride() == tensor.stride()
    )


def is_distributed(self):
    return False


def module_load(self, other, assign=False):
    """What `Module.load_state_dict` puts in place of this tensor: a copy, or `other` itself."""
    if _C._has_torch_function_variadic(self, other):
        taken, result = _overridden(Tensor.module_load, (self, other), {"assign": assign})
        if taken:
            return result
    if assign:
        return other.detach()
    return self.copy_(other).detach()


def _reduce_ex_internal(self, proto):
    from torch._utils import _reduce_tensor

    return _reduce_tensor(self, proto)


def _nnz(self):
    raise RuntimeError(
        f"_nnz expected sparse tensor layout but got {str(self.layout).replace('torch.', '')}"
    )


# ---------------------------------------------------------------- overriding


def _default_torch_function(cls, func, types, args=(), kwargs=None):
    """Runs `func` without overrides; tensors in the result become `cls`."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    saved = _C._set_torch_function_disabled(1)
    try:
        result = func(*args, **(kwargs or {}))
    finally:
        _C._set_torch_function_disabled(saved)
    if cls is Tensor or func in _unwrapped_functions():
        return result
    return _convert(result, cls)


def _convert(result, cls):
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else Tensor._convert(result, cls)
    if isinstance(result, (tuple, list)):
        return result.__class__(_convert(r, cls) for r in result) if not hasattr(
            result, "n_sequence_fields"
        ) else result.__class__([_convert(r, cls) for r in result])
    return result


_nowrap = None


def _unwrapped_functions():
    """Getters whose result keeps its own class."""
    global _nowrap
    if _nowrap is None:
        _nowrap = {
            Tensor._base.__get__, Tensor.grad.__get__, Tensor._grad.__get__,
        }
    return _nowrap


__torch_function__ = classmethod(_default_torch_function)


_METHODS = (
    "__repr__ __format__ __dir__ __deepcopy__ __reduce_ex__ __setstate__ reinforce "
    "__iter__ __contains__ __reversed__ apply_ map_ map2_ numpy __array__ __array_wrap__ "
    "fill_diagonal_ dequantize __dlpack__ __dlpack_device__ type_as to_sparse_coo get_device "
    "ipu xpu mtia pin_memory storage "
    "_typed_storage storage_type is_shared share_memory_ record_stream const_data_ptr dim_order "
    "resize resize_as is_set_to is_distributed module_load _reduce_ex_internal __torch_function__"
)


def _install():
    here = globals()
    for name in _METHODS.split():
        f = here[name]
        if callable(f):
            f.__qualname__ = f"Tensor.{name}"
        setattr(Tensor, name, f)
    for name in _FUNCTIONAL:
        if not hasattr(Tensor, name):
            setattr(Tensor, name, _method_of(name))
    for name in _REMOVED:
        if not hasattr(Tensor, name):
            setattr(Tensor, name, _method_of(name, "torch._linalg_utils"))
    for name in ("int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points "
                 "q_scale q_zero_point qscheme").split():
        setattr(Tensor, name, _backend_method(name))
    if not hasattr(Tensor, "is_nonzero"):
        Tensor.is_nonzero = is_nonzero
    Tensor.type = _type_method
    _type_method.__name__, _type_method.__qualname__ = "type", "Tensor.type"
    Tensor.__array_priority__ = 1000
    Tensor.__str__ = lambda self: self.__repr__()
    Tensor.__str__.__qualname__ = "Tensor.__str__"
    Tensor.__torch_dispatch__ = _C._disabled_torch_dispatch_impl
    Tensor.__cuda_array_interface__ = property(_cuda_array_interface)
    Tensor.volatile = property(_volatile)
    if not hasattr(Tensor, "_nnz"):
        Tensor._nnz = _nnz
    Tensor.__doc__ = "An n-dimensional array of one dtype that can record what is done to it."
    Tensor.__module__ = "torch"


_install()
