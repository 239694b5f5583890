"""The operators that are added at run time: by `torch.library` and by compiled extensions.

An `Operator` has a schema and implementations under dispatch keys. A call asks, in this order:
autocast, autograd, and the device of its tensors. `torch.ops` finds operators here by name.
"""

import threading

import torch
from torch import _C, _dispatch
from torch._op_schema import parse

__all__ = ["Operator", "define", "find", "lookup", "remove"]

_registry = {}   # "ns::name.overload" -> Operator
_waiting = {}    # implementations of operators that are not declared yet
_lock = threading.RLock()
_synchronized = 0
_compiled_known = [0, 0]  # definitions and kernels of compiled libraries seen so far

_COMPOSITE = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def fallthrough(*args, **kwargs):
    """Stands for "nothing here, ask the next"."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def tensors_in(args):
    for a in args:
        if isinstance(a, torch.Tensor):
            yield a
        elif isinstance(a, (list, tuple)):
            for b in a:
                if isinstance(b, torch.Tensor):
                    yield b


class CompiledKernel:
    """An implementation in a compiled library."""

    __slots__ = ("number", "operator")

    def __init__(self, number, operator):
        self.number, self.operator = number, operator

    def __call__(self, *args, **kwargs):
        schema = self.operator.schema
        if kwargs:
            args += tuple(kwargs[a.name] for a in schema.arguments[len(args):])
        return _C._abi_run_kernel(self.number, schema._text, args)


class Operator:
    """Everything that is known of one operator."""

    def __init__(self, schema_text, tags=()):
        self.schema = parse(schema_text)
        self.tags = list(tags)
        self.kernels = {}         # dispatch key -> implementation
        self._older = {}          # dispatch key -> implementations that were replaced
        self.custom = None        # the CustomOpDef, of torch.library.custom_op
        self.disabled = set()     # keys that set_kernel_enabled turned off
        self.backward = self.setup_context = None
        self.vmap = None
        self.autocast = {}        # device type -> dtype
        self.torch_dispatch = {}  # class -> rule
        self._node = self._overload = None

    @property
    def name(self):
        s = self.schema
        return s.name + ("." + s.overload_name if s.overload_name else "")

    # ---- implementations
    def put(self, key, fn):
        """The newest implementation of a key is the one that runs."""
        key = key or "CompositeImplicitAutograd"
        if key in self.kernels:
            self._older.setdefault(key, []).append(self.kernels[key])
        self.kernels[key] = fn

    def drop(self, key, fn):
        """Takes an implementation back; the one before it returns."""
        older = self._older.get(key, [])
        if self.kernels.get(key) is not fn:
            self._older[key] = [f for f in older if f is not fn]
        elif older:
            self.kernels[key] = older.pop()
        else:
            del self.kernels[key]

    def _get(self, key):
        fn = self.kernels.get(key)
        return None if fn is fallthrough or key in self.disabled else fn

    def find(self, key):
        """The implementation that a call at this key runs; None if there is none."""
        fn = self._get(key)
        if fn is not None:
            return fn
        if key.startswith("Autograd"):
            fn = self._get("Autograd")
            if fn is not None:
                return fn
            backend = key[len("Autograd"):]
            return None if self._at_backend(backend) else self._get("CompositeImplicitAutograd")
        return self._at_backend(key) or self._get("CompositeImplicitAutograd")

    def _at_backend(self, key):
        fn = self._get(key)
        for alias in _COMPOSITE:
            fn = fn or self._get(alias)
        return fn

    def _device(self, args, tensors):
        if tensors:
            return tensors[0].device.type
        for argument, value in zip(self.schema.arguments, args):
            if argument.name == "device" and value is not None:
                return torch.device(value).type
        return "cpu"

    # ---- the call
    def call(self, args):
        """`args` in schema order."""
        tensors = list(tensors_in(args))
        device = self._device(args, tensors)
        backend = _dispatch._dispatch_key_for_device(device)
        if self.torch_dispatch and not _dispatch._is_excluded("Python"):
            for t in tensors:
                rule = self.torch_dispatch.get(type(t))
                if rule is not None:
                    return self._by_rule(rule, type(t), args)
        if _dispatch._autocast_enabled(device):
            args, done, result = self._autocasted(args, device, backend)
            if done:
                return result
        if not _dispatch._is_excluded("AutogradFunctionality"):
            fn = self.find("Autograd" + backend)
            if fn is not None:
                return self._apply(fn, args)
            if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
                return self._recorded(args, backend)
        return self.below_autograd(args, backend)

    def _by_rule(self, rule, kind, args):
        from torch import _ops

        positional, keyword = self.schema.split(args)
        overload = _ops._find_overload(self.schema.name, self.schema.overload_name)
        if getattr(kind, "__torch_dispatch__", None) is None:
            return rule(None, overload, (kind,), positional, keyword)
        return rule(kind, overload, (kind,), positional, keyword)

    def _autocasted(self, args, device, backend):
        key = "Autocast" + backend
        fn = self._get(key)
        if fn is not None:
            return args, True, self._apply(fn, args)
        dtype = self.autocast.get(device)
        if dtype is None:
            return args, False, None
        from torch.amp.autocast_mode import _cast

        with torch.autocast(device, enabled=False):
            return args, True, self.call([_cast(a, device, dtype) for a in args])

    def _apply(self, fn, args):
        positional, keyword = self.schema.split(args)
        return self._checked(fn(*positional, **keyword))

    def _checked(self, result):
        returns = self.schema.returns
        if len(returns) == 1 and result is not None and returns[0].type.text == "Tensor" and (
                not isinstance(result, torch.Tensor)):
            raise RuntimeError(f"Unable to cast {result!r} to Tensor")
        if len(returns) > 1 and not isinstance(result, (tuple, list)):
            raise TypeError(f"Object of type '{type(result).__name__}' is not an instance of "
                            "'sequence'")
        return tuple(result) if len(returns) > 1 else result

    def below_autograd(self, args, backend=None):
        from torch.utils import _python_dispatch

        if self._overload is None:
            from torch import _ops

            self._overload = _ops._find_overload(self.schema.name, self.schema.overload_name)
        taken, result = _python_dispatch._instead_of_kernel(self._overload, args)
        return result if taken else self._run_kernel(args, backend)

    def _run_kernel(self, args, backend):
        if backend is None:
            device = self._device(args, list(tensors_in(args)))
            backend = _dispatch._dispatch_key_for_device(device)
        fn = self.find(backend)
        if self.custom is not None and backend == "Meta" and self._get("Meta") is None:
            raise self.custom._no_fake()
        if fn is None:
            raise self._no_kernel(backend)
        result = self._apply(fn, args)
        if self.custom is not None:
            self.custom._after(args, result)
        return result

    def _no_kernel(self, backend):
        if backend == "Meta":
            return NotImplementedError(
                f"{self.name}: attempted to run this operator with Meta tensors, but there was no "
                "fake impl or Meta kernel registered. Please add one with "
                "torch.library.register_fake.")
        keys = ", ".join(k for k in self.kernels)
        return NotImplementedError(
            f"Could not run '{self.name}' with arguments from the '{backend}' backend. This could "
            "be because the operator doesn't exist for this backend, or was omitted during the "
            f"selective/custom build process (if using custom build). '{self.name}' is only "
            f"available for these backends: [{keys}].")

    # ---- gradients
    def _recorded(self, args, backend):
        from torch import _operator_autograd

        if self.backward is not None or (self.custom is not None and not self.schema.is_mutable):
            if self._node is None:
                self._node = _operator_autograd.make_function(self)
            return _operator_autograd.apply(self, args)
        result = self.below_autograd(args, backend)
        if self.schema.is_mutable:
            return result
        return _operator_autograd.mark_unknown(self, args, result)


# ---------------------------------------------------------------- the registry


def define(schema_text, tags=()):
    """Declares an operator. RuntimeError if there is one of that name."""
    op = Operator(schema_text, tags)
    _synchronize()
    with _lock:
        if op.name in _registry:
            raise RuntimeError(
                f"Tried to register an operator ({op.schema}) with the same name and overload name "
                "multiple times. Each overload's schema should only be registered with a single "
                "call to def().")
        _add(op)
    return op


def _add(op):
    _registry[op.name] = op
    op.kernels.update(_waiting.pop(op.name, {}))
    _forget(op.schema.name)


def _forget(name):
    """The packet of a name is made anew when it is looked up again."""
    from torch import _ops

    namespace, _, base = name.partition("::")
    module = _ops.ops.__dict__.get(namespace)
    if module is not None:
        module.__dict__.pop(base, None)


def remove(name):
    with _lock:
        op = _registry.pop(name, None)
    if op is not None:
        _forget(op.schema.name)


def find(name):
    """The operator of a qualified name, or None."""
    _synchronize()
    return _registry.get(name)


def lookup(name):
    op = find(name)
    if op is None:
        raise RuntimeError(f"operator {name} does not exist")
    return op


def overloads(name):
    """{overload name: Operator} of a qualified name without overload."""
    _synchronize()
    return {op.schema.overload_name: op for op in list(_registry.values())
            if op.schema.name == name}


def names():
    _synchronize()
    return list(_registry)


def implement(name, key, fn):
    """Adds an implementation, also of an operator that is declared later."""
    with _lock:
        op = _registry.get(name)
        if op is not None:
            op.put(key, fn)
        else:
            _waiting.setdefault(name, {})[key or "CompositeImplicitAutograd"] = fn


def _synchronize():
    """Takes over what compiled libraries registered since the last time."""
    global _synchronized
    if _C._abi_generation() == _synchronized:
        return
    with _lock:
        generation = _C._abi_generation()
        definitions, kernels = _C._abi_registrations()
        for text, alive, tags in definitions[_compiled_known[0]:]:
            if alive:
                _add(Operator(text, [torch.Tag(t) for t in tags]))
        _compiled_known[0] = len(definitions)
        for number in range(_compiled_known[1], len(kernels)):
            name, key, alive = kernels[number]
            if alive:
                kernel = CompiledKernel(number, None)
                implement(name, key, kernel)
        _compiled_known[1] = len(kernels)
        _drop_closed(definitions, kernels)
        _attach()
        _synchronized = generation


def _drop_closed(definitions, kernels):
    for text, alive, _ in definitions:
        if not alive:
            remove(parse(text).name)
    for op in _registry.values():
        for key, fn in list(op.kernels.items()):
            if isinstance(fn, CompiledKernel) and not kernels[fn.number][2]:
                op.drop(key, fn)


def _attach():
    for op in _registry.values():
        for fn in op.kernels.values():
            if isinstance(fn, CompiledKernel):
                fn.operator = op
