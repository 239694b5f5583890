"""`torch.ops`: operators by namespace, name and overload, as the registry knows them.

``torch.ops.aten.add`` is a packet of overloads that chooses one by the arguments;
``torch.ops.aten.add.Tensor`` is one overload, called with exactly its schema. Operators of the core
come from `torch._C`, all others from `torch._operators`.
"""

import sys
import types

from torch import _C

_OVERLOAD_DEFAULT = "default"


def _overriding(args, kwargs):
    """The arguments with a ``__torch_function__`` of their own; None if nothing takes over."""
    values = []
    for v in (*args, *kwargs.values()):
        if isinstance(v, (list, tuple)):
            values.extend(v)
        else:
            values.append(v)
    if not _C._has_torch_function(tuple(values)):
        return None
    return tuple(v for v in values
                 if type(v) is not _C.Tensor and hasattr(type(v), "__torch_function__"))


class OpOverload:
    """One operator: callable, with a schema."""

    def __init__(self, packet, name, overload, call, schema, operator=None):
        self._overloadpacket = packet
        self._name = name + ("." + overload if overload else "")
        self._namespace, _, self._opname = name.partition("::")
        self._overload, self._call, self._text = overload, call, schema
        self._overloadname = overload or _OVERLOAD_DEFAULT
        self._operator = operator  # of torch._operators, or None for the core's
        self.__name__ = f"{self._opname}.{self._overloadname}"
        self.__qualname__ = self.__name__
        self.__module__ = packet.__module__
        self._parsed = None

    @property
    def _schema(self):
        if self._parsed is None:
            from torch._op_schema import parse

            self._parsed = parse(self._text)
        return self._parsed

    @property
    def _qualname(self):
        return self._name

    @property
    def overloadpacket(self):
        return self._overloadpacket

    @property
    def op(self):
        return self._overloadpacket

    _op = op

    @property
    def namespace(self):
        return self._namespace

    def name(self):
        return self._name

    @property
    def is_view(self):
        return self._schema.is_view

    @property
    def tags(self):
        from torch import Tag

        if self._operator is not None:
            return list(self._operator.tags)
        info = _C._op_info(_C._find_public(self._opname, self._overload))
        tags = [Tag.nondeterministic_seeded] if info["random"] else []
        return tags + ([Tag.pointwise] if info["pointwise"] else [])

    _tags = tags

    @property
    def _defined_in_python(self):
        return self._operator is not None

    def has_kernel_for_dispatch_key(self, key):
        return _C._dispatch_has_kernel_for_dispatch_key(self._name, key)

    def has_kernel_for_any_dispatch_key(self, keys):
        return _C._dispatch_has_kernel_for_any_dispatch_key(self._name, keys)

    def py_impl(self, key):
        """A decorator that implements the operator for a dispatch key."""
        if self._operator is None:
            raise NotImplementedError(f"{self}: operators of the core cannot be implemented anew")

        def register(fn):
            self._operator.put(getattr(key, "name", key), fn)
            return fn

        return register

    def redispatch(self, keyset, /, *args, **kwargs):
        """The implementation of the highest key in a set."""
        bound = self._schema.bind(args, kwargs)
        if self._operator is None:
            return self._call(bound)
        fn = self._operator.find(keyset.highestPriorityTypeId().name)
        if fn is None:
            raise NotImplementedError(f"{self._name}: no kernel for {keyset}")
        return self._operator._apply(fn, bound)

    def __call__(self, /, *args, **kwargs):
        overriding = _overriding(args, kwargs)
        if overriding is not None:
            from torch.overrides import handle_torch_function

            return handle_torch_function(self, overriding, *args, **kwargs)
        return self._call(self._schema.bind(args, kwargs))

    def __repr__(self):
        path = f"{self._namespace}.{self._opname}"
        return f"<OpOverload(op='{path}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self._namespace}.{self._opname}.{self._overloadname}"

    def __hash__(self):
        return hash(self._name)

    def __eq__(self, other):
        return isinstance(other, OpOverload) and self._name == other._name

    def __deepcopy__(self, memo=None):
        return self

    def __reduce__(self):
        return _find_overload, (f"{self._namespace}::{self._opname}", self._overload)


def _find_overload(name, overload):
    namespace, _, op = name.partition("::")
    packet = getattr(getattr(ops, namespace), op)
    return getattr(packet, overload or _OVERLOAD_DEFAULT)


def _find_packet(name):
    namespace, _, op = name.partition("::")
    return getattr(getattr(ops, namespace), op)


class OpOverloadPacket:
    """All overloads of a name."""

    def __init__(self, namespace, name, table):
        self._qualified_op_name = f"{namespace}::{name}"
        self.__name__ = self.__qualname__ = name
        self.__module__ = f"torch.ops.{namespace}"
        self._table = table  # overload name -> (call, schema text, operator or None)
        self._dir = []

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        overload = "" if key == _OVERLOAD_DEFAULT else key
        entry = self.__dict__["_table"].get(overload)
        if entry is None:
            path = self._qualified_op_name.replace("::", ".")
            raise AttributeError(f"The underlying op of '{path}' has no overload name '{key}'")
        made = OpOverload(self, self._qualified_op_name, overload, *entry)
        setattr(self, key, made)
        self._dir.append(key)
        return made

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self.overloads()))

    def overloads(self):
        return [n or _OVERLOAD_DEFAULT for n in self._table]

    @property
    def _overload_names(self):
        return list(self._table)

    @property
    def op(self):
        return self

    @property
    def _schemas(self):
        return {n: getattr(self, n or _OVERLOAD_DEFAULT)._schema for n in self._table}

    def __iter__(self):
        return iter(self._dir)

    def __call__(self, /, *args, **kwargs):
        overriding = _overriding(args, kwargs)
        if overriding is not None:
            from torch.overrides import handle_torch_function

            return handle_torch_function(self, overriding, *args, **kwargs)
        overloads = [getattr(self, n or _OVERLOAD_DEFAULT) for n in self._table]
        if len(overloads) == 1:
            return overloads[0]._call(overloads[0]._schema.bind(args, kwargs))
        failed = []
        for o in overloads:
            try:
                bound = o._schema.bind(args, kwargs)
            except RuntimeError as error:
                failed.append(str(error))
                continue
            return o._call(bound)
        listed = "\n".join("  " + f for f in failed)
        raise RuntimeError(
            f"No overload of {self._qualified_op_name} takes these arguments:\n{listed}"
        )

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._qualified_op_name.replace('::', '.')}')>"

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")

    def __hash__(self):
        return hash(self._qualified_op_name)

    def __eq__(self, other):
        return isinstance(other, OpOverloadPacket) and (
            self._qualified_op_name == other._qualified_op_name
        )

    def __deepcopy__(self, memo=None):
        return self

    def __reduce__(self):
        return _find_packet, (self._qualified_op_name,)


def _overload_order(name):
    """Tensors first, numbers next, `out` forms last: so are the arguments of a call tried."""
    first = ("", "Tensor", "Scalar")
    return ("out" in name, first.index(name) if name in first else len(first), name)


def _core_table(name):
    table = {}
    found = _C._public_overloads(name)
    for overload in sorted(found, key=_overload_order):
        handle = found[overload]
        table[overload] = (lambda args, h=handle: _C._call_public_op(h, args),
                           _C._public_schema(handle), None)
    return table


def _core_handle(name):
    """The core's operator of a qualified name such as ``"aten::add.Tensor"``, or None."""
    namespace, _, rest = name.partition("::")
    op, _, overload = rest.partition(".")
    return _C._find_public(op, overload) if namespace == "aten" else None


def _added_table(namespace, name):
    from torch import _operators

    found = _operators.overloads(f"{namespace}::{name}")
    return {overload: (op.call, op.schema._text, op) for overload, op in found.items()}


def _registered(name):
    """The `torch._operators.Operator` of a qualified name, or None."""
    from torch import _operators

    return _operators.find(name)


def _all_names():
    from torch import _operators

    core = [_C._public_schema(_C._find_op(n, o)).partition("(")[0] for n, o in _C._all_ops()]
    return core + _operators.names()


def _call_from_compiled(name, args):
    """A call by name out of a compiled library: arguments in schema order, a tuple of results."""
    op = _registered(name)
    result = op.call(list(args))
    if not op.schema.returns:
        return ()
    return tuple(result) if len(op.schema.returns) > 1 else (result,)


def _schema_for_compiled(name):
    op = _registered(name)
    return None if op is None else op.schema._text


def _connect_compiled_code():
    """Compiled libraries may call the operators that are added at run time from now on."""
    _C._abi_connect(_schema_for_compiled, _call_from_compiled)


class _OpNamespace(types.ModuleType):
    """``torch.ops.<name>``."""

    def __init__(self, name):
        super().__init__("torch.ops." + name)
        self.name = name
        self._dir = []

    def __iter__(self):
        return iter(self._dir)

    def __dir__(self):
        from torch import _operators

        prefix = self.name + "::"
        names = {n[len(prefix):].partition(".")[0] for n in _operators.names()
                 if n.startswith(prefix)}
        if self.name == "aten":
            names.update(n for n, _ in _C._all_ops())
        return sorted(names)

    def __getattr__(self, op_name):
        if op_name in ("__file__", "__path__", "__wrapped__") or op_name.startswith("__"):
            raise AttributeError(op_name)
        if self.name == "profiler":
            import torch.autograd._profiler_ops  # noqa: F401
        table = _added_table(self.name, op_name)
        if self.name == "aten":
            table = {**_core_table(op_name), **table}
        if not table:
            raise AttributeError(
                f"'_OpNamespace' '{self.name}' object has no attribute '{op_name}'"
            )
        packet = OpOverloadPacket(self.name, op_name, table)
        setattr(self, op_name, packet)
        self._dir.append(op_name)
        return packet

    def __repr__(self):
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"


class _Ops(types.ModuleType):
    """``torch.ops``."""

    __file__ = "_ops.py"

    def __init__(self):
        super().__init__("torch.ops")
        self.loaded_libraries = set()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def load_library(self, path):
        """Opens a shared library that registers operators (docs/ABI.md). OSError if it cannot
        be loaded."""
        import os

        from torch import _stable_abi_loader

        path = os.path.abspath(os.fspath(path))
        _stable_abi_loader.load(path)
        self.loaded_libraries.add(path)

    def import_module(self, module):
        from importlib import import_module

        import_module(module)


class _ClassNamespace(types.ModuleType):
    """``torch.classes.<library>``: every class of it is missing."""

    def __init__(self, name):
        super().__init__("torch.classes." + name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self.__name__[len('torch.classes.'):]}.{name}"
        raise RuntimeError(f"Tried to instantiate class '{path}', but it does not exist! "
                           "Ensure that it is registered via torch::class_")


class _Classes(types.ModuleType):
    """``torch.classes``: no custom classes of C++ exist here."""

    __file__ = "_classes.py"

    def __init__(self):
        super().__init__("torch.classes")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _ClassNamespace(name)
        setattr(self, name, namespace)
        return namespace

    @property
    def loaded_libraries(self):
        return ops.loaded_libraries

    def load_library(self, path):
        ops.load_library(path)


ops = _Ops()
classes = _Classes()
sys.modules.setdefault("torch.ops", ops)
sys.modules.setdefault("torch.classes", classes)
