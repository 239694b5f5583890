"""Dispatch keys: names, sets, and which of them the calling thread leaves out.

An operator of `torch.library` has implementations under dispatch keys ("CPU", "Autograd",
"AutocastCPU", ...). `torch._ops` asks the keys in order; the guards here leave keys out for a
while. The numbers are those that programs can see (`int(DispatchKey.CPU)`, `raw_repr`).
"""

import enum
import threading

__all__ = ["DispatchKey", "DispatchKeySet"]

_BACKENDS = ("CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 "
             "PrivateUse3 Meta").split()

# Functionalities: what a key means apart from the device, with their numbers.
_FUNCTIONALITIES = {
    "Undefined": 0, "Dense": 1, "FPGA": 2, "Vulkan": 3, "Metal": 4, "Quantized": 5,
    "CustomRNGKeyId": 6, "MkldnnCPU": 7, "Sparse": 8, "SparseCsr": 9, "NestedTensor": 10,
    "BackendSelect": 11, "Fake": 12, "Python": 13, "FuncTorchDynamicLayerBackMode": 14,
    "Functionalize": 15, "Conjugate": 16, "Negative": 17, "ZeroTensor": 18,
    "ADInplaceOrView": 19, "AutogradOther": 20, "AutogradFunctionality": 21,
    "AutogradNestedTensor": 22, "Tracer": 23, "AutocastCPU": 24, "AutocastMTIA": 25,
    "AutocastMAIA": 26, "AutocastXPU": 27, "AutocastIPU": 28, "AutocastHPU": 29,
    "AutocastXLA": 30, "AutocastMPS": 31, "AutocastCUDA": 32, "AutocastPrivateUse1": 33,
    "FuncTorchBatched": 34, "BatchedNestedTensor": 35, "FuncTorchVmapMode": 36, "Batched": 37,
    "VmapMode": 38, "FuncTorchGradWrapper": 39, "DeferredInit": 40, "PythonTLSSnapshot": 41,
    "FuncTorchDynamicLayerFrontMode": 42, "TESTING_ONLY_GenericWrapper": 43,
    "TESTING_ONLY_GenericMode": 44, "PreDispatch": 45, "PythonDispatcher": 46,
}
_PER_BACKEND = {  # functionality: first number and prefix of its keys
    "Dense": (48, ""), "Quantized": (65, "Quantized"), "Sparse": (82, "Sparse"),
    "SparseCsr": (99, "SparseCsr"), "NestedTensor": (116, "NestedTensor"),
    "AutogradFunctionality": (133, "Autograd"),
}
_ALIASES = {
    "Autograd": 150, "CompositeImplicitAutograd": 151, "FuncTorchBatchedDecomposition": 152,
    "CompositeImplicitAutogradNestedTensor": 153, "CompositeExplicitAutograd": 154,
    "CompositeExplicitAutogradNonFunctional": 155,
}


def _numbers():
    numbers = dict(_FUNCTIONALITIES)
    for functionality, (start, prefix) in _PER_BACKEND.items():
        group = functionality if functionality.startswith("Autograd") else prefix or "Dense"
        numbers[f"StartOf{group}Backends"] = start
        for i, backend in enumerate(_BACKENDS, start + 1):
            numbers[prefix + backend] = i
        numbers[f"EndOf{group}Backends"] = start + len(_BACKENDS)
    numbers.update(_ALIASES)
    return numbers


class _KeyBase(enum.IntEnum):
    def __str__(self):
        return f"DispatchKey.{self.name}"

    def __repr__(self):
        return f"<DispatchKey.{self.name}: {self.value}>"

    __hash__ = enum.IntEnum.__hash__


DispatchKey = _KeyBase("DispatchKey", _numbers(), module="torch")
DispatchKey.__module__ = "torch"


def _make_bits():
    bits = {}
    for name, number in _FUNCTIONALITIES.items():
        bits[name] = 1 << (15 + number) if number else 0
    for functionality, (_, prefix) in _PER_BACKEND.items():
        for i, backend in enumerate(_BACKENDS):
            bits[prefix + backend] = 1 << i | bits[functionality]
    return bits


_BITS = _make_bits()  # a key as the bits of its functionality and its backend
_BACKEND_MASK = (1 << len(_BACKENDS)) - 1


def _key(key):
    """A `DispatchKey` from one or from its name."""
    if isinstance(key, DispatchKey):
        return key
    try:
        return DispatchKey[key]
    except KeyError:
        raise RuntimeError(f"could not parse dispatch key: {key}") from None


class DispatchKeySet:
    """A set of dispatch keys."""

    __slots__ = ("_raw",)
    __module__ = "torch._C"

    def __init__(self, key):
        self._raw = key._raw if isinstance(key, DispatchKeySet) else _BITS.get(_key(key).name, 0)

    @staticmethod
    def from_raw_repr(raw):
        made = DispatchKeySet(DispatchKey.Undefined)
        made._raw = raw
        return made

    def raw_repr(self):
        return self._raw

    def has(self, key):
        bits = _BITS.get(_key(key).name, 0)
        return bool(bits) and self._raw & bits == bits

    def add(self, key):
        return self | DispatchKeySet(key)

    def remove(self, key):
        return self - DispatchKeySet(key)

    def __or__(self, other):
        return self.from_raw_repr(self._raw | other._raw)

    def __and__(self, other):
        return self.from_raw_repr(self._raw & other._raw)

    def __sub__(self, other):
        return self.from_raw_repr(self._raw & ~(other._raw & ~_BACKEND_MASK))

    def __eq__(self, other):
        return isinstance(other, DispatchKeySet) and self._raw == other._raw

    def __hash__(self):
        return hash(self._raw)

    def _keys(self):
        """From the lowest to the highest priority."""
        out = []
        for name, number in _FUNCTIONALITIES.items():
            if not number or not self._raw >> (15 + number) & 1:
                continue
            if name in _PER_BACKEND:
                prefix = _PER_BACKEND[name][1]
                out += [DispatchKey[prefix + b] for i, b in enumerate(_BACKENDS)
                        if self._raw >> i & 1]
            else:
                out.append(DispatchKey[name])
        return out

    def highestPriorityTypeId(self):
        keys = self._keys()
        return keys[-1] if keys else DispatchKey.Undefined

    def __repr__(self):
        return "DispatchKeySet(" + ", ".join(k.name for k in self._keys()) + ")"


def _set_of(*names):
    raw = 0
    for n in names:
        raw |= _BITS[n]
    return raw


_AUTOGRAD = _set_of("AutogradOther", "AutogradNestedTensor", "AutogradFunctionality")
_AUTOCAST = _set_of(*(n for n in _FUNCTIONALITIES if n.startswith("Autocast")))


class _Local(threading.local):
    included = _set_of("BackendSelect", "ADInplaceOrView")
    excluded = _AUTOCAST


_local = _Local()


def _is_excluded(name):
    """Whether the calling thread leaves a key out. Autocast has its own switch."""
    bits = _BITS.get(name, 0) & ~_BACKEND_MASK
    return bool(bits) and _local.excluded & bits == bits


def _autocast_enabled(device):
    """Is autocast on for the type of device?"""
    import torch

    return torch._C._is_autocast_available(device) and torch.is_autocast_enabled(device)


class _Guard:
    """Adds to the thread's excluded and included keys inside a block."""

    def __init__(self, excluded=0, included=0, replace=False):
        self._excluded, self._included, self._replace = excluded, included, replace
        self._saved = []

    def _enter(self):
        import torch

        grad = None
        if self._excluded & _AUTOGRAD & ~_BACKEND_MASK:
            grad = torch.is_grad_enabled()
            torch._C._set_grad_enabled(False)
        autocast = []
        for name in _FUNCTIONALITIES:
            if name.startswith("Autocast") and self._excluded & _BITS[name] and not self._replace:
                device = name[8:].lower()
                if device in ("cpu", "cuda", "xpu", "mps") and _autocast_enabled(device):
                    autocast.append(device)
                    torch.set_autocast_enabled(device, False)
        self._saved.append((_local.excluded, _local.included, grad, autocast))
        if self._replace:
            _local.excluded, _local.included = self._excluded, self._included
        else:
            _local.excluded |= self._excluded
            _local.included |= self._included

    def _leave(self):
        import torch

        _local.excluded, _local.included, grad, autocast = self._saved.pop()
        if grad is not None:
            torch._C._set_grad_enabled(grad)
        for device in autocast:
            torch.set_autocast_enabled(device, True)

    def __enter__(self):
        self._enter()

    def __exit__(self, *error):
        self._leave()


class _ExcludeDispatchKeyGuard(_Guard):
    """Leaves the keys of a set out inside a block."""

    def __init__(self, keys):
        super().__init__(excluded=keys.raw_repr())


class ExcludeDispatchKeyGuard(_Guard):
    """Leaves keys out from its making to its end."""

    def __init__(self, keys):
        super().__init__(excluded=keys.raw_repr())
        self._enter()

    def __del__(self):
        if self._saved:
            self._leave()

    __enter__ = __exit__ = None


class _IncludeDispatchKeyGuard(_Guard):
    def __init__(self, keys):
        super().__init__(included=DispatchKeySet(keys).raw_repr())


class _ForceDispatchKeyGuard(_Guard):
    def __init__(self, included, excluded):
        super().__init__(excluded.raw_repr(), included.raw_repr(), replace=True)


class _AutoDispatchBelowAutograd(_Guard):
    """Inside, operators are called below their autograd implementations."""

    def __init__(self):
        super().__init__(excluded=_AUTOGRAD)


class _AutoDispatchBelowADInplaceOrView(_Guard):
    def __init__(self):
        super().__init__(excluded=_AUTOGRAD | _BITS["ADInplaceOrView"])


# ---------------------------------------------------------------- torch._C._dispatch_*


def _dispatch_key_parse(name):
    return _key(name)


_parse_dispatch_key = _dispatch_key_parse


def _dispatch_key_name(key):
    return _key(key).name


_OF_DEVICE = {b.lower(): b for b in _BACKENDS}


def _dispatch_key_for_device(device):
    key = _OF_DEVICE.get(device)
    if key is None:
        raise RuntimeError(f"no dispatch key for device type {device}")
    return key


def _dispatch_is_alias_key(key):
    return _key(key).name in _ALIASES


def _dispatch_is_included_in_alias(key, alias):
    name, alias = _key(key).name, _key(alias).name
    if alias == "Autograd":
        return name.startswith("Autograd")
    return alias.startswith("Composite") and (name in _BACKENDS or name.startswith("Autograd"))


def _dispatch_keys(tensor):
    """The keys that a tensor brings along."""
    device = _dispatch_key_for_device(tensor.device.type)
    prefix = {"torch.sparse_coo": "Sparse", "torch.strided": ""}.get(str(tensor.layout),
                                                                     "SparseCsr")
    names = [prefix + device]
    if not tensor.is_inference():
        names += ["ADInplaceOrView", "Autograd" + device]
    if "Autocast" + device in _BITS:
        names.append("Autocast" + device)
    return DispatchKeySet.from_raw_repr(_set_of(*names))


def _dispatch_tls_local_include_set():
    return DispatchKeySet.from_raw_repr(_local.included)


def _dispatch_tls_local_exclude_set():
    return DispatchKeySet.from_raw_repr(_local.excluded)


def _dispatch_tls_is_dispatch_key_excluded(key):
    return _dispatch_tls_local_exclude_set().has(key)


def _dispatch_tls_is_dispatch_key_included(key):
    return _dispatch_tls_local_include_set().has(key)


def _dispatch_tls_set_dispatch_key_excluded(key, on):
    bits = _BITS[_key(key).name]
    _local.excluded = _local.excluded | bits if on else _local.excluded & ~bits


def _dispatch_tls_set_dispatch_key_included(key, on):
    bits = _BITS[_key(key).name]
    _local.included = _local.included | bits if on else _local.included & ~bits


def _dispatch_keyset_to_string(keys):
    return repr(keys)


def _kernel_table(name):
    from torch import _ops

    return _ops._registered(name)


def _dispatch_find_schema_or_throw(name, overload):
    from torch import _ops

    return _ops._find_overload(name, overload)


def _dispatch_has_kernel(name):
    """Whether any implementation of an operator is there."""
    from torch import _ops

    op = _kernel_table(name)
    return bool(op.kernels) if op is not None else _ops._core_handle(name) is not None


def _dispatch_has_kernel_for_dispatch_key(name, key):
    """Whether an implementation was registered under exactly this key."""
    from torch import _ops

    op = _kernel_table(name)
    if op is not None:
        return _key(key).name in op.kernels
    if _ops._core_handle(name) is None:
        raise RuntimeError(f"operator {name} does not exist")
    return _key(key).name in ("CPU", "Meta", "AutogradCPU")


def _dispatch_has_computed_kernel_for_dispatch_key(name, key):
    """Whether a call that arrives at this key finds an implementation."""
    op = _kernel_table(name)
    if op is None:
        return _dispatch_has_kernel_for_dispatch_key(name, key)
    return op.find(_key(key).name) is not None


def _dispatch_has_kernel_for_any_dispatch_key(name, keys):
    return any(_dispatch_has_kernel_for_dispatch_key(name, k) for k in keys._keys())


def _dispatch_get_all_op_names():
    from torch import _ops

    return _ops._all_names()


def _dispatch_dump(name):
    """The registrations of an operator, one per line."""
    op = _kernel_table(name)
    if op is None:
        raise RuntimeError(f"operator {name} does not exist")
    lines = [f"name: {op.schema.name}", f"schema: {op.schema}"]
    lines += [f"{key}{'[alias]' if key in _ALIASES else ''}: registered" for key in op.kernels]
    return "\n".join(lines) + "\n"
