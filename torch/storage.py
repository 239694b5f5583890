"""Storages: the memory under tensors, seen as bytes (`UntypedStorage`) or as numbers.

`UntypedStorage` is the real thing, a type of the core. `TypedStorage` and the classes
`FloatStorage`, `LongStorage` and so on wrap one together with a dtype; they exist because saved
files and old programs name them.
"""

import collections.abc
import copy
import io
import warnings

import torch

__all__ = ["TypedStorage", "UntypedStorage"]

_ALIAS = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
    "QUInt8Storage": "quint8",
    "QInt8Storage": "qint8",
    "QInt32Storage": "qint32",
    "QUInt4x2Storage": "quint4x2",
    "QUInt2x4Storage": "quint2x4",
}

# Quantized elements are read and written as these.
_QUANTIZED_AS = {"quint8": "uint8", "quint4x2": "uint8", "quint2x4": "uint8", "qint8": "int8",
                 "qint32": "int32"}


def _untyped_class():
    return torch._C.StorageBase if not hasattr(torch, "UntypedStorage") else torch.UntypedStorage


def _storage_type_to_dtype_map():
    return {k: getattr(torch, v) for k, v in _ALIAS.items() if hasattr(torch, v)}


def _dtype_to_storage_type_map():
    return {v: k for k, v in _storage_type_to_dtype_map().items()}


def _get_dtype_from_pickle_storage_type(pickle_storage_type):
    """The dtype of a name like ``"FloatStorage"``. Raises KeyError for others."""
    name = _ALIAS.get(pickle_storage_type)
    if name is None:
        raise KeyError(f'pickle storage type "{pickle_storage_type}" is not recognized')
    return getattr(torch, name)


def _get_device_from_module(module):
    last = module.rpartition(".")[2]
    return "cpu" if last in ("torch", "") else last


def _warn_typed_storage_removal(stacklevel=2):
    global _warned
    if _warned and not _always_warn:
        return
    _warned = True
    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will "
        "be the only storage class. This should only matter to you if you are using storages "
        "directly.  To access UntypedStorage directly, use tensor.untyped_storage() "
        "instead of tensor.storage()",
        UserWarning,
        stacklevel=stacklevel + 1,
    )


_warned = False
_always_warn = False


def _set_always_warn_typed_storage_removal(always_warn):
    global _always_warn
    if not isinstance(always_warn, bool):
        raise AssertionError(f"always_warn should be a bool, got {type(always_warn)}")
    _always_warn = always_warn


def _get_always_warn_typed_storage_removal():
    return _always_warn


def _reset_warn_typed_storage_removal():
    global _warned
    _warned = False


def _new_untyped(nbytes, device):
    cls = _untyped_class()
    return cls(nbytes) if device is None else cls(nbytes, device=device)


def _from_sequence(sequence, dtype, device):
    dtype = getattr(torch, _QUANTIZED_AS.get(str(dtype).partition(".")[2], ""), dtype)
    tensor = torch.tensor(sequence, dtype=dtype, device=device)
    return tensor.untyped_storage()


_USAGE = (
    "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
    " * (*, torch.device device, torch.dtype dtype)\n"
    " * (int size, *, torch.device device, torch.dtype dtype)\n"
    " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
    " * (*, UntypedStorage wrap_storage, torch.dtype dtype)"
)


class TypedStorage:
    """An `UntypedStorage` read as elements of one dtype.

    Args:
        args: nothing, a number of elements, or a sequence of values.
        wrap_storage: the storage to wrap, instead of a new one.
        dtype: the type of the elements; the default dtype if none of both is given.
        device: where to make a new one.
    """

    is_sparse = False
    _fake_device = None

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if not _internal:
            _warn_typed_storage_removal()
        if wrap_storage is not None:
            self._wrap(args, wrap_storage, dtype, device)
            return
        self.dtype = torch.get_default_dtype() if dtype is None else dtype
        if len(args) > 1:
            raise TypeError(f"{_USAGE}\nToo many positional arguments")
        if not args or isinstance(args[0], int):
            count = args[0] if args else 0
            self._untyped_storage = _new_untyped(count * self._element_size(), device)
        elif isinstance(args[0], collections.abc.Sequence):
            self._untyped_storage = _from_sequence(args[0], self.dtype, device)
        else:
            kind = type(args[0])
            raise TypeError(f"{_USAGE}\nArgument type not recognized: {kind}")

    def _wrap(self, args, wrap_storage, dtype, device):
        if args:
            raise RuntimeError(
                f"{_USAGE}\nNo positional arguments should be given when using 'wrap_storage'"
            )
        if dtype is None:
            raise RuntimeError(f"{_USAGE}\nArgument 'dtype' must be specified")
        if not isinstance(dtype, torch.dtype):
            raise TypeError(
                f"{_USAGE}\nArgument 'dtype' must be torch.dtype, not {type(dtype)}"
            )
        if device is not None:
            raise RuntimeError(
                f"{_USAGE}\nArgument 'device' should not be specified when 'wrap_storage' is given"
            )
        if not isinstance(wrap_storage, _untyped_class()):
            raise TypeError(
                f"{_USAGE}\nArgument 'wrap_storage' must be UntypedStorage, "
                f"but got {type(wrap_storage)}"
            )
        self.dtype = dtype
        self._untyped_storage = wrap_storage

    # ------------------------------------------------------------ what it is

    @property
    def device(self):
        return self._untyped_storage.device

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    @property
    def is_hpu(self):
        return self.device.type == "hpu"

    @property
    def filename(self):
        return self._untyped_storage.filename

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    @property
    def _dtype(self):
        return self.dtype

    def untyped(self):
        """The storage as bytes."""
        return self._untyped_storage

    def _element_size(self):
        return self.dtype.itemsize

    def element_size(self):
        return self._element_size()

    def _nbytes(self):
        return self._untyped_storage.nbytes()

    def nbytes(self):
        return self._nbytes()

    def _size(self):
        return self._nbytes() // self._element_size()

    def size(self):
        """The number of elements."""
        return self._size()

    def __len__(self):
        return self._size()

    def _data_ptr(self):
        return self._untyped_storage.data_ptr()

    def data_ptr(self):
        return self._data_ptr()

    def get_device(self):
        return self._untyped_storage.get_device()

    def is_pinned(self, device=None):
        return False if device is None else self._untyped_storage.is_pinned(device)

    def pin_memory(self, device=None):
        return self._new_wrapped_storage(self._untyped_storage.pin_memory())

    def resizable(self):
        return self._untyped_storage.resizable()

    def _pickle_storage_type(self):
        try:
            return _dtype_to_storage_type_map()[self.dtype]
        except KeyError:
            raise KeyError(f"dtype {self.dtype} is not recognized") from None

    def pickle_storage_type(self):
        return self._pickle_storage_type()

    def _get_legacy_storage_class(self):
        name = _dtype_to_storage_type_map().get(self.dtype)
        return None if name is None else _legacy_class(name)

    def type(self, dtype=None, non_blocking=False):
        """The name of its legacy class, or a copy converted to another."""
        if dtype is None:
            legacy = self._get_legacy_storage_class()
            if legacy is not None:
                return f"{legacy.__module__}.{legacy.__name__}"
            return f"{type(self).__module__}.{type(self).__name__}"
        if isinstance(dtype, str):
            dtype = _get_dtype_from_pickle_storage_type(dtype.rpartition(".")[2])
        elif not isinstance(dtype, torch.dtype):
            dtype = dtype.dtype
        return self._to(dtype)

    # ------------------------------------------------------------ elements

    def _tensor(self):
        dtype = getattr(torch, _QUANTIZED_AS.get(str(self.dtype).partition(".")[2], ""), self.dtype)
        empty = torch.empty(0, dtype=dtype, device=self.device)
        return empty.set_(self._untyped_storage, 0, (self._size(),), (1,))

    def _checked_index(self, idx):
        n = self._size()
        if idx >= n or idx < -n:
            raise IndexError(f"index {idx} out of range for storage of size {n}")
        return idx % n

    def _getitem(self, idx):
        if isinstance(idx, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(idx, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(idx)}")
        return self._tensor()[self._checked_index(idx)].item()

    def __getitem__(self, idx):
        return self._getitem(idx)

    def _setitem(self, idx, value):
        if not isinstance(idx, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(idx)}")
        if torch.is_storage(value):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        if isinstance(idx, int):
            idx = self._checked_index(idx)
        if isinstance(value, (list, tuple)):
            value = torch.tensor(value, dtype=self._tensor().dtype)
        self._tensor()[idx] = value

    def __setitem__(self, idx, value):
        self._setitem(idx, value)

    def __iter__(self):
        return iter(self._tensor().tolist())

    def tolist(self):
        return self._tensor().tolist()

    def fill_(self, value):
        self._tensor().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        if isinstance(source, TypedStorage):
            source = source._untyped_storage
        self._untyped_storage.copy_(source, bool(non_blocking))
        return self

    def __eq__(self, other):
        return super().__eq__(other)

    __hash__ = object.__hash__

    def __str__(self):
        if self.device.type == "meta":
            data = "...\n"
        else:
            data = "".join(f" {value}\n" for value in self)
        return f"{data}[{type(self).__module__}.{type(self).__name__}(dtype={self.dtype}, " \
               f"device={self.device}) of size {len(self)}]"

    __repr__ = __str__

    # ------------------------------------------------------------ new ones

    def _new_wrapped_storage(self, untyped):
        kind = type(self)
        if kind is TypedStorage:
            return TypedStorage(wrap_storage=untyped, dtype=self.dtype, _internal=True)
        return kind(wrap_storage=untyped)

    def _resize_(self, size):
        self._untyped_storage.resize_(size * self._element_size())

    def resize_(self, size):
        """Changes the number of elements."""
        self._resize_(size)

    def clone(self):
        return self._new_wrapped_storage(self._untyped_storage.clone())

    def __copy__(self):
        return self._new_wrapped_storage(copy.copy(self._untyped_storage))

    def _deepcopy(self, memo):
        return self._new_wrapped_storage(copy.deepcopy(self._untyped_storage, memo))

    def __deepcopy__(self, memo):
        return self._deepcopy(memo)

    def cpu(self):
        return self._new_wrapped_storage(self._untyped_storage.cpu())

    def cuda(self, device=None, non_blocking=False):
        return self._new_wrapped_storage(self._untyped_storage.cuda(device, non_blocking))

    def to(self, *, device, non_blocking=False):
        untyped = self._untyped_storage.to(device=torch.device(device), non_blocking=non_blocking)
        return self._new_wrapped_storage(untyped)

    def _to(self, dtype):
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"Argument 'dtype' must be torch.dtype, not {type(dtype)}")
        converted = self._tensor().to(dtype, copy=True)
        return TypedStorage(
            wrap_storage=converted.untyped_storage(), dtype=dtype, _internal=True
        )

    def _is_shared(self):
        return self._untyped_storage.is_shared()

    def is_shared(self):
        return self._is_shared()

    def _share_memory_(self):
        self._untyped_storage.share_memory_()
        return self

    def share_memory_(self):
        """Moves the memory to where other processes can map it."""
        return self._share_memory_()

    def _share_fd_cpu_(self, *args, **kwargs):
        return self._untyped_storage._share_fd_cpu_(*args, **kwargs)

    def _share_filename_cpu_(self, *args, **kwargs):
        return self._untyped_storage._share_filename_cpu_(*args, **kwargs)

    @classmethod
    def from_buffer(cls, *args, **kwargs):
        """A copy of a buffer's bytes; arguments as for `UntypedStorage.from_buffer`."""
        return cls._from_buffer(*args, **kwargs)

    @classmethod
    def _from_buffer(cls, *args, dtype=None, device=None, **kwargs):
        if cls is not TypedStorage:
            dtype = cls.dtype
        if dtype is None:
            dtype = torch.get_default_dtype()
        untyped = _untyped_class().from_buffer(*args, dtype=dtype, **kwargs)
        return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)

    @classmethod
    def from_file(cls, filename, shared, size):
        """The first `size` elements of a file, mapped."""
        if cls is TypedStorage:
            raise RuntimeError("from_file can only be called on derived classes")
        nbytes = size * cls.dtype.itemsize
        return cls(wrap_storage=_untyped_class().from_file(filename, shared, nbytes))

    # ------------------------------------------------------------ pickling

    def __reduce__(self):
        from .serialization import save

        file = io.BytesIO()
        save(self, file, _use_new_zipfile_serialization=False)
        return _load_from_bytes, (file.getvalue(),)

    def __sizeof__(self):
        return object.__sizeof__(self) + self._nbytes()


def _add_conversions():
    """`float()`, `long()`, …: copies converted to another dtype."""
    names = {"double": "float64", "float": "float32", "half": "float16", "long": "int64",
             "int": "int32", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool",
             "bfloat16": "bfloat16", "complex_double": "complex128", "complex_float": "complex64",
             "float8_e5m2": "float8_e5m2", "float8_e4m3fn": "float8_e4m3fn",
             "float8_e5m2fnuz": "float8_e5m2fnuz", "float8_e4m3fnuz": "float8_e4m3fnuz"}
    for method, dtype in names.items():
        def convert(self, _dtype=dtype):
            return self._to(getattr(torch, _dtype))

        convert.__name__ = method
        convert.__doc__ = f"A copy converted to {dtype}."
        setattr(TypedStorage, method, convert)


_add_conversions()


class _LegacyStorageMeta(type):
    def __instancecheck__(cls, instance):
        if type(instance) is TypedStorage and getattr(cls, "dtype", None) is not None:
            return instance.dtype == cls.dtype and instance.device.type == "cpu"
        return type.__instancecheck__(cls, instance)


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """Base of `FloatStorage` and the others: constructing one gives a `TypedStorage`."""

    @classmethod
    def _usage(cls, argument):
        return (
            f"{cls}.__new__ received an invalid combination of arguments. Expected one of:\n"
            " * no arguments\n * (int size)\n * (Sequence data)\n"
            f" * (*, UntypedStorage wrap_storage)\nKeyword argument {argument!r} cannot be "
            "specified"
        )

    def __new__(cls, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if not _internal:
            _warn_typed_storage_removal()
        if dtype is not None:
            raise RuntimeError(cls._usage("dtype"))
        if device is not None:
            raise RuntimeError(cls._usage("device"))
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, _internal=True)


_legacy_classes = {}


def _legacy_class(name):
    """`torch.FloatStorage` and the others, made when first asked for."""
    cls = _legacy_classes.get(name)
    if cls is None:
        dtype = _get_dtype_from_pickle_storage_type(name)
        members = {"__module__": "torch", "dtype": dtype, "__doc__": f"Elements of {dtype}."}
        cls = _legacy_classes[name] = _LegacyStorageMeta(name, (_LegacyStorage,), members)
    return cls


def _load_from_bytes(b):
    """What a pickled storage calls to come back."""
    from .serialization import load

    return load(io.BytesIO(b), weights_only=False)


def __getattr__(name):
    if name == "UntypedStorage":
        return _untyped_class()
    if name == "_StorageBase":
        return _untyped_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
