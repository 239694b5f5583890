"""`torch.ops`: operators by namespace, name and overload, as the registry knows them.

``torch.ops.aten.add`` is a packet of overloads that chooses one by the arguments;
``torch.ops.aten.add.Tensor`` is one overload, called with exactly its schema.
"""

import sys
import types

from torch import _C

_OVERLOAD_DEFAULT = "default"


class OpOverload:
    """One operator: callable, with a schema."""

    def __init__(self, packet, name, overload, call, schema):
        self._overloadpacket = packet
        self._name, self._overload = name, overload
        self._call, self._text = call, schema
        self._overloadname = overload or _OVERLOAD_DEFAULT
        self._qualname = name + ("." + overload if overload else "")
        self.__name__ = f"{name.split('::')[1]}.{self._overloadname}"
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
    def overloadpacket(self):
        return self._overloadpacket

    @property
    def op(self):
        return self._overloadpacket

    @property
    def namespace(self):
        return self._name.split("::")[0]

    def name(self):
        return self._qualname

    @property
    def is_view(self):
        return self._schema.is_view

    @property
    def tags(self):
        return []

    def __call__(self, /, *args, **kwargs):
        return self._call(self._schema.bind(args, kwargs))

    def __repr__(self):
        path = self._name.replace("::", ".")
        return f"<OpOverload(op='{path}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self._name.replace('::', '.')}.{self._overloadname}"

    def __hash__(self):
        return hash((self._name, self._overload))

    def __eq__(self, other):
        return isinstance(other, OpOverload) and self._qualname == other._qualname

    def __deepcopy__(self, memo=None):
        return self

    def __reduce__(self):
        return _find, (self._name, self._overload)


def _find(name, overload):
    namespace, _, op = name.partition("::")
    packet = getattr(getattr(ops, namespace), op)
    return getattr(packet, overload or _OVERLOAD_DEFAULT)


class OpOverloadPacket:
    """All overloads of a name."""

    def __init__(self, namespace, name, table):
        self._qualified_op_name = f"{namespace}::{name}"
        self.__name__ = name
        self.__module__ = f"torch.ops.{namespace}"
        self._table = table  # overload name -> (call, schema text)
        self._made = {}

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
        return made

    def overloads(self):
        return [n or _OVERLOAD_DEFAULT for n in self._table]

    @property
    def op(self):
        return self

    @property
    def _schemas(self):
        return {n: getattr(self, n or _OVERLOAD_DEFAULT)._schema for n in self._table}

    def __iter__(self):
        return iter(self.overloads())

    def __call__(self, /, *args, **kwargs):
        overloads = [getattr(self, n or _OVERLOAD_DEFAULT) for n in self._table]
        failed = []
        for o in overloads:
            try:
                bound = o._schema.bind(args, kwargs)
            except (TypeError, RuntimeError) as error:
                failed.append(str(error))
                continue
            return o._call(bound)
        if len(failed) == 1:
            raise RuntimeError(failed[0])
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


# Operators that Python added (torch.library, packages): namespace -> name -> overload table.
_python_ops = {}


def _register_python(namespace, name, overload, call, schema):
    """Adds an operator; `call` takes the arguments in schema order."""
    table = _python_ops.setdefault(namespace, {}).setdefault(name, {})
    table[overload] = (call, schema)
    module = ops.__dict__.get(namespace)
    if module is not None:
        module.__dict__.pop(name, None)


def _overload_order(name):
    """Tensors first, numbers next, `out` forms last: so are the arguments of a call tried."""
    first = ("", "Tensor", "Scalar")
    return ("out" in name, first.index(name) if name in first else len(first), name)


def _core_table(name):
    table = {}
    for overload in sorted(_C._op_overloads(name), key=_overload_order):
        handle = _C._find_op(name, overload)
        schema = "aten::" + _C._op_info(handle)["schema"]
        table[overload] = (lambda args, h=handle: _C._call_op(h, args), schema)
    return table


class _OpNamespace(types.ModuleType):
    """``torch.ops.<name>``."""

    def __init__(self, name):
        super().__init__("torch.ops." + name)
        self.name = name
        self._dir = []

    def __iter__(self):
        return iter(self._dir)

    def __dir__(self):
        names = set(_python_ops.get(self.name, ()))
        if self.name == "aten":
            names.update(n for n, _ in _C._all_ops())
        return sorted(names)

    def __getattr__(self, op_name):
        if op_name in ("__file__", "__path__", "__wrapped__") or op_name.startswith("__"):
            raise AttributeError(op_name)
        table = dict(_python_ops.get(self.name, {}).get(op_name, {}))
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
        self._loading = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._providers(name)
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def _providers(self, name):
        """Namespaces that a module of this package fills when they are first named."""
        if name == "torchvision":
            try:
                from torch import _torchvision_ops  # noqa: F401
            except ImportError:
                pass

    def load_library(self, path):
        """Opens a shared library that registers operators."""
        import ctypes
        import os

        path = os.path.abspath(os.fspath(path))
        from torch import _stable_abi_loader

        _stable_abi_loader.load(path, ctypes)
        self.loaded_libraries.add(path)

    def import_module(self, module):
        from importlib import import_module

        import_module(module)


class _Classes(types.ModuleType):
    """``torch.classes``: no custom classes of C++ exist here."""

    __file__ = "_classes.py"

    def __init__(self):
        super().__init__("torch.classes")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(f"Tried to instantiate class '{name}', but it does not exist! "
                           "Ensure that it is registered via torch::class_")

    @property
    def loaded_libraries(self):
        return ops.loaded_libraries

    def load_library(self, path):
        ops.load_library(path)


ops = _Ops()
classes = _Classes()
sys.modules.setdefault("torch.ops", ops)
sys.modules.setdefault("torch.classes", classes)
