"""The safe unpickler behind ``torch.load(weights_only=True)``.

A pickle is a program for a small stack machine. This one runs that program itself, with two rules:
a name is looked up in an allow-list, never imported; and only functions of the allow-list (or that
the user added with `torch.serialization.add_safe_globals`) are called. Lengths are checked against
the data before anything is allocated. The opcodes are those of the module `pickletools`.
"""

import _codecs
import _compat_pickle
import collections
import struct
from pickle import UnpicklingError, decode_long

import torch

_MAX_HASH_DEPTH = 100  # how deep a tuple used as a key may be nested

_BLOCKED_MODULES = ("sys", "os", "posix", "nt")

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
        "torch.nn.parameter.Parameter": torch.nn.Parameter,
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
                            torch.Size, torch.device, torch.nn.Parameter)
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

def _text_line(data, at):
    end = data.find(b"\n", at)
    if end < 0:
        raise EOFError("pickle data was truncated")
    return bytes(data[at:end]), end + 1


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


# ---------------------------------------------------------------- the machine


_DISPATCH = {}


def _op(code):
    def register(function):
        _DISPATCH[code] = function
        return function

    return register


class Unpickler:
    """Runs one pickle from a binary file.

    Args:
        file: anything with ``read``.
        encoding: how 8-bit strings of Python 2 are decoded; ``"bytes"`` keeps them.

    `persistent_load` must be set to a function before `load` if the pickle has persistent ids.
    """

    def __init__(self, file, *, encoding="bytes"):
        self._file = file
        self.encoding = encoding
        self.proto = -1
        self.memo = {}
        self.persistent_load = None

    def load(self):
        """The object. Raises `pickle.UnpicklingError` for anything that is not allowed."""
        self._start = self._file.tell() if hasattr(self._file, "tell") else None
        self._data = self._file.read()
        self._at = 0
        self._stack = []
        self._marks = []
        self._user = _get_user_allowed_globals()
        self._user_objects = list(self._user.values())
        self.memo = {}
        value = self._run()
        if self._start is not None and hasattr(self._file, "seek"):
            # More may follow, as in the files of old versions.
            self._file.seek(self._start + self._at)
        return value

    def _run(self):
        dispatch = _DISPATCH
        data = self._data
        while True:
            if self._at >= len(data):
                raise EOFError("Ran out of input")
            code = data[self._at]
            self._at += 1
            if code == 0x2E:  # STOP
                return self._pop()
            function = dispatch.get(code)
            if function is None:
                raise UnpicklingError(f"Unsupported operand {code}")
            function(self)

    # ------------------------------------------------------------ reading

    def _take(self, n):
        end = self._at + n
        if n < 0 or end > len(self._data):
            raise EOFError("pickle data was truncated")
        part = self._data[self._at : end]
        self._at = end
        return part

    def _number(self, layout, n):
        return struct.unpack(layout, self._take(n))[0]

    def _line(self):
        line, self._at = _text_line(self._data, self._at)
        return line

    # ------------------------------------------------------------ the stack

    def _push(self, value):
        self._stack.append(value)

    def _pop(self):
        if not self._stack:
            raise UnpicklingError("unexpected empty stack")
        return self._stack.pop()

    def _top(self):
        if not self._stack:
            raise UnpicklingError("unexpected empty stack")
        return self._stack[-1]

    def _pop_mark(self):
        if not self._marks:
            raise UnpicklingError("could not find MARK")
        items = self._stack
        self._stack = self._marks.pop()
        return items

    # ------------------------------------------------------------ what is allowed

    def find_class(self, module, name):
        """The allowed object of that name."""
        if self.proto < 3:
            module, name = _modern_name(module, name)
        full = f"{module}.{name}"
        if module in _BLOCKED_MODULES:
            raise UnpicklingError(
                f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked."
            )
        if full in self._user:
            return self._user[full]
        obj = _get_allowed(full)
        if obj is not None:
            return obj
        shown = name if module == "builtins" else full
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {shown} was not an allowed global by default. "
            f"Please use `torch.serialization.add_safe_globals([{shown}])` or the "
            f"`torch.serialization.safe_globals([{shown}])` context manager to allowlist this "
            "global if you trust this class/function."
        )

    def _is_users(self, obj):
        return any(obj is allowed for allowed in self._user_objects)

    def reduce(self, function, args):
        """Calls an allowed function."""
        if not isinstance(args, tuple):
            raise UnpicklingError("REDUCE expects a tuple of arguments")
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

    def new_object(self, cls, args):
        """NEWOBJ: an instance without its state."""
        if not isinstance(args, tuple):
            raise UnpicklingError("NEWOBJ expects a tuple of arguments")
        if cls is torch.nn.Parameter:
            return torch.nn.Parameter(*args)
        if self._is_users(cls) and isinstance(cls, type):
            return cls.__new__(cls, *args)
        if cls in (collections.OrderedDict, collections.Counter) or (
            cls in (torch.Size, torch.device, set, complex)
        ):
            return cls(*args)
        if isinstance(cls, type) and issubclass(cls, torch.Tensor) and not args:
            return cls.__new__(cls)
        raise UnpicklingError(f"Trying to create new object for unallowed class {_qualified(cls)}")

    def build(self, obj, state):
        """BUILD: gives an object its state."""
        kind = type(obj)
        if kind is torch.nn.Parameter:
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


def _hashable(key):
    """Checks a key: hashing a deeply nested tuple would overflow the C stack."""
    if not isinstance(key, (tuple, frozenset)):
        return key
    level = [key]
    for _ in range(_MAX_HASH_DEPTH):
        level = [x for t in level for x in t if isinstance(x, (tuple, frozenset))]
        if not level:
            return key
        if len(level) > 10000:
            break
    raise UnpicklingError("a key is nested too deeply")


# ---------------------------------------------------------------- opcodes: constants and strings


@_op(0x80)
def _proto(u):
    u.proto = u._take(1)[0]
    if u.proto > 5:
        raise UnpicklingError(f"unsupported pickle protocol: {u.proto}")


@_op(0x95)
def _frame(u):
    if u._number("<Q", 8) > len(u._data) - u._at:
        raise EOFError("pickle data was truncated")


_op(0x4E)(lambda u: u._push(None))  # NONE
_op(0x88)(lambda u: u._push(True))  # NEWTRUE
_op(0x89)(lambda u: u._push(False))  # NEWFALSE
_op(0x4A)(lambda u: u._push(u._number("<i", 4)))  # BININT
_op(0x4B)(lambda u: u._push(u._take(1)[0]))  # BININT1
_op(0x4D)(lambda u: u._push(u._number("<H", 2)))  # BININT2
_op(0x47)(lambda u: u._push(u._number(">d", 8)))  # BINFLOAT
_op(0x46)(lambda u: u._push(float(u._line())))  # FLOAT
_op(0x8A)(lambda u: u._push(decode_long(u._take(u._take(1)[0]))))  # LONG1
_op(0x8B)(lambda u: u._push(decode_long(u._take(u._number("<i", 4)))))  # LONG4
_op(0x4C)(lambda u: u._push(int(u._line().rstrip(b"L"))))  # LONG
_op(0x43)(lambda u: u._push(bytes(u._take(u._take(1)[0]))))  # SHORT_BINBYTES
_op(0x42)(lambda u: u._push(bytes(u._take(u._number("<I", 4)))))  # BINBYTES
_op(0x8E)(lambda u: u._push(bytes(u._take(u._number("<Q", 8)))))  # BINBYTES8
_op(0x96)(lambda u: u._push(bytearray(u._take(u._number("<Q", 8)))))  # BYTEARRAY8
_op(0x54)(lambda u: u._push(_old_string(u, u._number("<i", 4))))  # BINSTRING
_op(0x55)(lambda u: u._push(_old_string(u, u._take(1)[0])))  # SHORT_BINSTRING


@_op(0x49)
def _int(u):
    line = u._line()
    u._push({b"00": False, b"01": True}[line] if line in (b"00", b"01") else int(line))


def _old_string(u, n):
    data = bytes(u._take(n))
    return data if u.encoding == "bytes" else data.decode(u.encoding)


def _unicode(u, n):
    return bytes(u._take(n)).decode("utf-8", "surrogatepass")


_op(0x58)(lambda u: u._push(_unicode(u, u._number("<I", 4))))  # BINUNICODE
_op(0x8C)(lambda u: u._push(_unicode(u, u._take(1)[0])))  # SHORT_BINUNICODE
_op(0x8D)(lambda u: u._push(_unicode(u, u._number("<Q", 8))))  # BINUNICODE8
_op(0x56)(lambda u: u._push(u._line().decode("raw-unicode-escape")))  # UNICODE

# ---------------------------------------------------------------- opcodes: stack and memo


@_op(0x28)
def _mark(u):
    u._marks.append(u._stack)
    u._stack = []


@_op(0x30)
def _pop(u):
    if u._stack:
        u._stack.pop()
    else:
        u._pop_mark()


_op(0x31)(lambda u: u._pop_mark() and None)  # POP_MARK
_op(0x32)(lambda u: u._push(u._top()))  # DUP


def _get(u, index):
    try:
        u._push(u.memo[index])
    except KeyError:
        raise UnpicklingError(f"Memo value not found at index {index}") from None


def _put(u, index):
    u.memo[index] = u._top()


_op(0x68)(lambda u: _get(u, u._take(1)[0]))  # BINGET
_op(0x6A)(lambda u: _get(u, u._number("<I", 4)))  # LONG_BINGET
_op(0x67)(lambda u: _get(u, int(u._line())))  # GET
_op(0x71)(lambda u: _put(u, u._take(1)[0]))  # BINPUT
_op(0x72)(lambda u: _put(u, u._number("<I", 4)))  # LONG_BINPUT
_op(0x70)(lambda u: _put(u, int(u._line())))  # PUT
_op(0x94)(lambda u: _put(u, len(u.memo)))  # MEMOIZE

# ---------------------------------------------------------------- opcodes: containers

_op(0x29)(lambda u: u._push(()))  # EMPTY_TUPLE
_op(0x5D)(lambda u: u._push([]))  # EMPTY_LIST
_op(0x7D)(lambda u: u._push({}))  # EMPTY_DICT
_op(0x8F)(lambda u: u._push(set()))  # EMPTY_SET
_op(0x85)(lambda u: _tuple_of(u, 1))  # TUPLE1
_op(0x86)(lambda u: _tuple_of(u, 2))  # TUPLE2
_op(0x87)(lambda u: _tuple_of(u, 3))  # TUPLE3
_op(0x6C)(lambda u: _from_mark(u, list))  # LIST
_op(0x74)(lambda u: _from_mark(u, tuple))  # TUPLE
_op(0x91)(lambda u: _from_mark(u, lambda items: frozenset(map(_hashable, items))))  # FROZENSET


def _from_mark(u, make):
    items = u._pop_mark()
    u._push(make(items))


def _tuple_of(u, n):
    if len(u._stack) < n:
        raise UnpicklingError("unexpected empty stack")
    items = tuple(u._stack[-n:])
    del u._stack[-n:]
    u._push(items)


@_op(0x64)
def _dict(u):
    items = u._pop_mark()
    u._push(dict(zip(map(_hashable, items[::2]), items[1::2])))


def _as_list(u):
    value = u._top()
    if type(value) is not list:
        raise UnpicklingError(f"Can only append to lists, but got {type(value)}")
    return value


@_op(0x61)
def _append(u):
    item = u._pop()
    _as_list(u).append(item)


@_op(0x65)
def _appends(u):
    items = u._pop_mark()
    _as_list(u).extend(items)


def _set_items(u, items):
    target = u._top()
    if not isinstance(target, dict):
        raise UnpicklingError(f"Can only set items of dicts, but got {type(target)}")
    if len(items) % 2:
        raise UnpicklingError("odd number of items for a dict")
    for key, value in zip(items[::2], items[1::2]):
        target[_hashable(key)] = value


@_op(0x73)
def _setitem(u):
    value = u._pop()
    key = u._pop()
    _set_items(u, [key, value])


@_op(0x75)
def _setitems(u):
    items = u._pop_mark()
    _set_items(u, items)


@_op(0x90)
def _additems(u):
    items = u._pop_mark()
    target = u._top()
    if type(target) is not set:
        raise UnpicklingError(f"Can only add items to sets, but got {type(target)}")
    target.update(map(_hashable, items))


# ---------------------------------------------------------------- opcodes: names and objects


@_op(0x63)
def _global(u):
    module = u._line().decode("utf-8")
    u._push(u.find_class(module, u._line().decode("utf-8")))


@_op(0x93)
def _stack_global(u):
    name = u._pop()
    module = u._pop()
    if type(name) is not str or type(module) is not str:
        raise UnpicklingError("STACK_GLOBAL requires str")
    u._push(u.find_class(module, name))


@_op(0x52)
def _reduce(u):
    args = u._pop()
    u._push(u.reduce(u._pop(), args))


@_op(0x81)
def _newobj(u):
    args = u._pop()
    u._push(u.new_object(u._pop(), args))


@_op(0x92)
def _newobj_ex(u):
    kwargs = u._pop()
    args = u._pop()
    cls = u._pop()
    if kwargs:
        if not (u._is_users(cls) and isinstance(cls, type) and isinstance(kwargs, dict)):
            raise UnpicklingError(
                f"Trying to create new object for unallowed class {_qualified(cls)}"
            )
        u._push(cls.__new__(cls, *args, **kwargs))
        return
    u._push(u.new_object(cls, args))


@_op(0x62)
def _build(u):
    state = u._pop()
    u.build(u._top(), state)


def _persistent(u, pid):
    if u.persistent_load is None:
        raise UnpicklingError("a persistent id was met, but no persistent_load function is set")
    if (type(pid) is not tuple or not pid) and type(pid) is not int:
        raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(pid)}")
    if type(pid) is tuple and pid[0] != "storage":
        raise UnpicklingError(
            f"Only persistent_load of storage is allowed, but got {pid[0]}"
        )
    u._push(u.persistent_load(pid))


_op(0x51)(lambda u: _persistent(u, u._pop()))  # BINPERSID


def load(file, *, encoding="ASCII"):
    """Unpickles from a file with the safe unpickler."""
    return Unpickler(file, encoding=encoding).load()
