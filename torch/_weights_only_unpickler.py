"""The safe unpickler behind ``torch.load(weights_only=True)``.

A pickle is a program for a small stack machine. The core (src/serialize) runs that program on data
alone and gives a tree in which only names of the allow-list occur. Here is what those names mean
and what may be called: nothing is ever imported, and only functions of the allow-list, or that the
user added with `torch.serialization.add_safe_globals`, are called.
"""

import _codecs
import _compat_pickle
import collections
from pickle import UnpicklingError

import torch

from ._utils import _parameter_class

_FIRST_PART = 1 << 18

# ---------------------------------------------------------------- the user's additions

_user_globals = []


def _add_safe_globals(safe_globals):
    _user_globals.extend(g for g in safe_globals if g not in _user_globals)


def _get_safe_globals():
    return list(_user_globals)


def _clear_safe_globals():
    _user_globals.clear()


def _remove_safe_globals(globals_to_remove):
    _user_globals[:] = [g for g in _user_globals if g not in globals_to_remove]


class _safe_globals:
    """Context manager: adds to the allow-list within the block."""

    def __init__(self, safe_globals):
        self.safe_globals = safe_globals

    def __enter__(self):
        self._before = _get_safe_globals()
        _add_safe_globals(self.safe_globals)

    def __exit__(self, *exc_info):
        _user_globals[:] = self._before


def _qualified(obj):
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    return f"{getattr(obj, '__module__', None)}.{name}"


def _get_user_allowed_globals():
    """Name to object of the user's additions."""
    table = {}
    for entry in _user_globals:
        if isinstance(entry, tuple):
            if len(entry) != 2:
                raise ValueError(
                    f"Expected tuple of length 2 (global, str of callable full path), "
                    f"but got tuple of length: {len(entry)}"
                )
            obj, name = entry
            if not isinstance(name, str):
                raise TypeError(
                    f"Expected second item in tuple to be str of callable full path, "
                    f"but got: {type(name)}"
                )
            table[name] = obj
        else:
            table[_qualified(entry)] = entry
    return table


# ---------------------------------------------------------------- the allow-list

_REBUILD = (
    "_rebuild_sparse_tensor",
    "_rebuild_tensor_v3",
    "_rebuild_parameter",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_parameter_with_state",
    "_rebuild_tensor",
    "_rebuild_wrapper_subclass",
    "_rebuild_device_tensor_from_cpu_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_qtensor",
    "_rebuild_device_tensor_from_numpy",
)

_TENSOR_KINDS = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte",
                 "Bool")

_QSCHEMES = ("per_tensor_affine", "per_tensor_symmetric", "per_channel_affine",
             "per_channel_symmetric", "per_channel_affine_float_qparams")


def _tensor_rebuild_functions():
    """The functions that pickled tensors call."""
    return {getattr(torch._utils, name) for name in _REBUILD}


def _safe_bytearray(*args):
    # A number would allocate as much as it says.
    if args and not isinstance(args[0], (bytes, bytearray, str, list, tuple)):
        raise UnpicklingError("bytearray of something else than its contents")
    return bytearray(*args)


def _safe_encode(text, encoding="latin1"):
    # Only the call that pickle itself makes for bytes in protocol 2.
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise UnpicklingError("_codecs.encode is only supported for latin1")
    return _codecs.encode(text, encoding)


def _resolve(name):
    """The object of an allowed name, or None."""
    from . import serialization

    fixed = {
        "collections.OrderedDict": collections.OrderedDict,
        "collections.Counter": collections.Counter,
        "torch.serialization._get_layout": serialization._get_layout,
        "torch.Size": torch.Size,
        "torch.Tensor": torch.Tensor,
        "torch.device": torch.device,
        "torch.storage.TypedStorage": torch.storage.TypedStorage,
        "torch.storage.UntypedStorage": torch.UntypedStorage,
        "_codecs.encode": _safe_encode,
        "builtins.bytearray": _safe_bytearray,
        "builtins.set": set,
        "builtins.complex": complex,
    }
    if name in fixed:
        return fixed[name]
    module, _, last = name.rpartition(".")
    if name == "torch.nn.parameter.Parameter":
        return torch.nn.Parameter
    if module == "torch._utils" and last in _REBUILD:
        return getattr(torch._utils, last)
    if name == "torch._tensor._rebuild_from_type_v2":
        return torch._tensor._rebuild_from_type_v2
    if module == "torch":
        obj = getattr(torch, last, None)
        if isinstance(obj, torch.dtype) or (last in _QSCHEMES and obj is not None):
            return obj
    if module in ("torch", "torch.cuda") and last.endswith("Storage"):
        try:
            return serialization.StorageType(last)
        except KeyError:
            return None
    if module in ("torch", "torch.sparse", "torch.cuda", "torch.cuda.sparse"):
        if last.endswith("Tensor") and last[:-6] in _TENSOR_KINDS:
            return torch._utils._import_dotted_name(name)
    return None


_resolved = {}


def _get_allowed(name):
    obj = _resolved.get(name)
    if obj is None:
        obj = _resolve(name)
        if obj is not None:
            _resolved[name] = obj
    return obj


def _may_call(function):
    """Whether REDUCE may call an object that came from the allow-list."""
    if isinstance(function, type):
        return function in (collections.OrderedDict, collections.Counter, set, complex,
                            torch.Size, torch.device, _parameter_class())
    if function in (_safe_encode, _safe_bytearray):
        return True
    name = getattr(function, "__name__", "")
    if name in _REBUILD:
        return function is _resolved.get(f"torch._utils.{name}")
    return (
        function is _resolved.get("torch.serialization._get_layout")
        or function is _resolved.get("torch._tensor._rebuild_from_type_v2")
    ) and function is not None


# ---------------------------------------------------------------- names in a file


def _modern_name(module, name):
    """Python 3's names for what a pickle of protocol 2 or lower calls by Python 2's."""
    if (module, name) in _compat_pickle.NAME_MAPPING:
        return _compat_pickle.NAME_MAPPING[(module, name)]
    return _compat_pickle.IMPORT_MAPPING.get(module, module), name


def get_globals_in_pkl(file):
    """The full names of all globals that a pickle refers to; nothing is executed."""
    import pickletools

    found = set()
    strings = []
    for opcode, arg, _ in pickletools.genops(file):
        if opcode.name == "GLOBAL":
            module, _, name = arg.partition(" ")
            found.add(".".join(_modern_name(module, name)))
        elif opcode.name == "STACK_GLOBAL" and len(strings) >= 2:
            found.add(f"{strings[-2]}.{strings[-1]}")
        elif isinstance(arg, str):
            strings.append(arg)
    return found


# ---------------------------------------------------------------- reading


class Unpickler:
    """Reads one pickle from a binary file, by the rules above.

    Args:
        file: anything with ``read``.
        encoding: how 8-bit strings of Python 2 are decoded; ``"bytes"`` keeps them.

    `persistent_load` must be set to a function before `load` if the pickle has persistent ids.
    """

    def __init__(self, file, *, encoding="bytes"):
        self._file = file
        self.encoding = encoding
        self.persistent_load = None

    def load(self):
        """The object. Raises `pickle.UnpicklingError` for anything that is not allowed."""
        file = self._file
        start = file.tell() if hasattr(file, "tell") else None
        self._user = _get_user_allowed_globals()
        self._user_objects = list(self._user.values())
        self.user_names = frozenset(self._user)
        if start is None or not hasattr(file, "seek"):
            return self._read(file.read())[0]
        # More may follow, as in the files of old versions: try with a part of the file first.
        try:
            value, n = self._read(file.read(_FIRST_PART))
        except UnpicklingError as e:
            if "truncated" not in str(e):
                raise
            file.seek(start)
            value, n = self._read(file.read())
        file.seek(start + n)
        return value

    def _read(self, data):
        return torch._C._unpickle(data, self, self.persistent_load, self.encoding)

    def _lookup(self, module, name):
        """The object of a name, which the reader has found to be allowed."""
        full = f"{module}.{name}"
        if full in self._user:
            return self._user[full]
        obj = _get_allowed(full)
        if obj is None:
            raise UnpicklingError(f"{full} does not exist in this version")
        return obj

    def _is_users(self, obj):
        return any(obj is allowed for allowed in self._user_objects)

    def reduce(self, function, args):
        """Calls an allowed function."""
        if not (self._is_users(function) or _may_call(function)):
            raise UnpicklingError(
                f"Trying to call reduce for unrecognized function {function}"
            )
        self._check_call(function, args)
        return function(*args)

    def _check_call(self, function, args):
        """Arguments of allowed functions that are classes or functions themselves."""
        if getattr(function, "__name__", "") != "_rebuild_from_type_v2" or len(args) < 2:
            return
        inner, cls = args[0], args[1]
        if not (self._is_users(inner) or _may_call(inner)):
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {inner}")
        if not isinstance(cls, type) or not (
            self._is_users(cls) or issubclass(cls, torch.Tensor) or _get_allowed(_qualified(cls))
        ):
            raise UnpicklingError(f"{cls} is not allowed as the type of a tensor")

    def new_object(self, cls, args, kwargs):
        """An instance without its state."""
        if self._is_users(cls) and isinstance(cls, type):
            return cls.__new__(cls, *args, **(kwargs or {}))
        if kwargs:
            raise UnpicklingError(f"Trying to create new object for unallowed class {cls}")
        if cls is _parameter_class():
            return cls(*args)
        if cls in (collections.OrderedDict, collections.Counter) or (
            cls in (torch.Size, torch.device, set, complex)
        ):
            return cls(*args)
        if isinstance(cls, type) and issubclass(cls, torch.Tensor) and not args:
            return cls.__new__(cls)
        raise UnpicklingError(f"Trying to create new object for unallowed class {cls}")

    def build(self, obj, state):
        """Gives an object its state."""
        kind = type(obj)
        if kind is _parameter_class():
            obj.__setstate__(state)
        elif isinstance(obj, torch.Tensor) and not self._is_users(kind):
            obj.set_(*state)
        elif kind in (collections.OrderedDict, collections.Counter):
            obj.__dict__.update(state)
        elif self._is_users(kind):
            _set_user_state(obj, state)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {kind}"
            )


def _set_user_state(obj, state):
    setstate = getattr(obj, "__setstate__", None)
    if setstate is not None:
        setstate(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        obj.__dict__.update(state)
    if slots:
        for name, value in slots.items():
            setattr(obj, name, value)


def load(file, *, encoding="ASCII"):
    """Unpickles from a file with the safe unpickler."""
    return Unpickler(file, encoding=encoding).load()
