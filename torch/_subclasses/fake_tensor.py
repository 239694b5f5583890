"""`FakeTensor`: shape, strides, dtype and device of a tensor without its values.

Inside a :class:`FakeTensorMode` every operator runs on the meta device, whatever device its tensors
say they are on.
"""
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["FakeTensor", "FakeTensorMode", "DataDependentOutputException",
           "DynamicOutputShapeException", "UnsupportedFakeTensorException",
           "UnsupportedOperatorException", "is_fake", "unset_fake_temporarily"]

aten = torch.ops.aten
_META = torch.device("meta")
# Results that depend on values.
_NUMBERS = ("_local_scalar_dense", "equal", "is_nonzero", "allclose")
_SHAPES = ("nonzero", "_nonzero_python", "nonzero_numpy", "argwhere", "_unique2", "unique_dim",
           "unique_consecutive", "masked_select", "bincount")


class UnsupportedFakeTensorException(RuntimeError):
    """No fake tensor can stand for such a tensor."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class _OfOperator(RuntimeError):
    def __init__(self, func):
        super().__init__(str(func))
        self.func = func


class DynamicOutputShapeException(_OfOperator):
    """The shape of a result depends on values."""


class DataDependentOutputException(_OfOperator):
    """A number is asked for that depends on values."""


class UnsupportedOperatorException(_OfOperator):
    """The operator does not run without values."""


def _device(device):
    device = torch.device(device)
    if device.type not in ("cpu", "meta") and device.index is None:
        device = torch.device(device.type, 0)
    return device


class FakeTensor(torch.Tensor):
    """A tensor without values; made by :class:`FakeTensorMode`."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, fake_mode, elem, device, constant=None, real_tensor=None, pytype=None,
                dispatch_keys=None):
        if elem.device.type != "meta":
            raise AssertionError(f"elem must be on the meta device, got {elem.device}")
        self = torch.Tensor._make_wrapper_subclass(
            cls, elem.shape, strides=elem.stride(), storage_offset=elem.storage_offset(),
            dtype=elem.dtype, device=_device(device), requires_grad=elem.requires_grad)
        self.elem = elem.detach()
        self.fake_device = _device(device)
        self.fake_mode = fake_mode
        self.constant = constant     # the values after all, of a tensor made of numbers
        return self

    @staticmethod
    def from_tensor(t, fake_mode):
        return fake_mode.from_tensor(t)

    def __repr__(self, *, tensor_contents=None):
        parts = ["..."]
        if self.device.type != "cpu":
            parts.append(f"device='{self.device}'")
        parts.append(f"size={tuple(self.shape)}")
        if self.dtype is not torch.get_default_dtype():
            parts.append(f"dtype={self.dtype}")
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{self.grad_fn.name()}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        text = f"FakeTensor({', '.join(parts)})"
        return f"Parameter({text})" if getattr(self, "_is_param", False) else text

    __str__ = __repr__

    def tolist(self):
        if self.dim() == 0:
            return self.item()
        raise DataDependentOutputException(aten._local_scalar_dense.default)

    def item(self):
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        if self.constant is not None:
            with unset_fake_temporarily():
                return self.constant.item()
        raise DataDependentOutputException(aten._local_scalar_dense.default)

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def numpy(self, *, force=False):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def __deepcopy__(self, memo):
        return self.fake_mode._wrap(self.elem.clone(), self.fake_device)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        mode = _mode_of(args, kwargs or {})
        if mode in _get_current_dispatch_mode_stack():
            raise AssertionError("a fake tensor's mode is active and was not asked")
        with mode:
            return func(*args, **(kwargs or {}))


def _mode_of(args, kwargs):
    for t in tree_flatten((args, kwargs))[0]:
        if isinstance(t, FakeTensor):
            return t.fake_mode
    raise AssertionError("no fake tensor among the arguments")


def is_fake(x):
    """Whether `x` is a fake tensor."""
    return isinstance(x, FakeTensor)


class unset_fake_temporarily:
    """No fake mode inside the block."""

    def __enter__(self):
        from torch.utils._python_dispatch import _disable_current_modes
        self._off = _disable_current_modes()
        return self._off.__enter__()

    def __exit__(self, *args):
        return self._off.__exit__(*args)


class FakeTensorMode(TorchDispatchMode):
    """Inside the block operators make fake tensors, and take them.

    Args:
        allow_non_fake_inputs: ordinary tensors are converted instead of refused.
    """

    def __init__(self, *, allow_fallback_kernels=True, allow_non_fake_inputs=False,
                 shape_env=None, static_shapes=None, export=False):
        super().__init__()
        if shape_env is not None:
            raise NotImplementedError("torch._subclasses.FakeTensorMode: shape_env: symbolic "
                                      "shapes are not written")
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.static_shapes = True
        self.shape_env = None
        self.export = export
        self._known = weakref.WeakKeyDictionary()   # ordinary tensor -> its fake

    def from_tensor(self, tensor, *, static_shapes=None, source=None, symbolic_context=None,
                    trace=True):
        """The fake of an ordinary tensor; the same one each time."""
        if isinstance(tensor, FakeTensor):
            if tensor.fake_mode is not self:
                raise AssertionError(f"Mixing fake modes NYI {tensor.fake_mode} vs {self}")
            return tensor
        key = _ById(tensor)
        found = self._known.get(key)
        if found is not None:
            return found
        if tensor.layout is not torch.strided:
            raise UnsupportedFakeTensorException(f"{tensor.layout} tensors are not supported")
        with unset_fake_temporarily():
            elem = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype,
                                       device=_META)
        fake = FakeTensor(self, elem, tensor.device)
        fake.requires_grad_(tensor.requires_grad)
        if isinstance(tensor, torch.nn.Parameter):
            fake._is_param = True
        self._known[key] = fake
        tensor._fake_key = key       # the pair lives as long as the tensor
        return fake

    def _wrap(self, elem, device):
        return FakeTensor(self, elem, device)

    def _input(self, t, func, args):
        if isinstance(t, FakeTensor):
            if t.fake_mode is not self:
                raise AssertionError(f"Mixing fake modes NYI x.fake_mode={t.fake_mode} vs "
                                     f"self={self}")
            return t
        if not isinstance(t, torch.Tensor):
            return t
        number = t.dim() == 0 and t.device.type == "cpu"
        if not (self.allow_non_fake_inputs or number or t.device.type == "meta"):
            raise AssertionError(
                "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode "
                f"with 'allow_non_fake_inputs'. Found in {func}({_shown(args)})")
        return self.from_tensor(t)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        flat, spec = tree_flatten((args, kwargs))
        name = func._opname
        if name in _NUMBERS:
            raise DataDependentOutputException(func)
        if name in _SHAPES:
            raise DynamicOutputShapeException(func)
        flat = [self._input(t, func, args) for t in flat]
        fakes = [t for t in flat if isinstance(t, FakeTensor)]
        args, kwargs = tree_unflatten(
            [t.elem if isinstance(t, FakeTensor) else t for t in flat], spec)
        device = self._result_device(func, fakes, kwargs)
        if "device" in kwargs or not fakes:
            kwargs = {**kwargs, "device": _META}
        elif any(isinstance(t, torch.device) for t in flat):
            args = tree_map(lambda x: _META if isinstance(x, torch.device) else x, args)
        out = func(*args, **kwargs)
        mine = {id(t.elem): t for t in fakes}
        for t in fakes:
            self._follow(t)

        def result(x):
            if not isinstance(x, torch.Tensor):
                return x
            same = mine.get(id(x))       # an operator in place returns its argument
            return self._wrap(x, device) if same is None else same

        return tree_map(result, out)

    def _result_device(self, func, fakes, kwargs):
        if kwargs.get("device") is not None:
            return _device(kwargs["device"])
        if not fakes:
            return torch.device("cpu")
        # 0-dim tensors of the CPU go with any device.
        ranked = sorted(fakes, key=lambda t: t.dim() == 0 and t.fake_device.type == "cpu")
        return ranked[0].fake_device

    @staticmethod
    def _follow(fake):
        """An operator in place may have given the tensor another geometry."""
        elem = fake.elem
        if elem.shape != fake.shape or elem.stride() != fake.stride():
            torch._C._set_geometry(fake, elem)


class _ById:
    """A tensor as a key that compares by identity."""

    __slots__ = ("_hash", "__weakref__")

    def __new__(cls, tensor):
        known = getattr(tensor, "_fake_key", None)
        if known is not None:
            return known
        self = super().__new__(cls)
        self._hash = id(tensor)
        return self

    def __hash__(self):
        return self._hash


def _shown(args):
    def show(x):
        if isinstance(x, FakeTensor):
            return repr(x)
        if isinstance(x, torch.Tensor):
            return f"tensor([...], size={tuple(x.shape)})"
        return repr(x)
    return ", ".join(show(a) for a in args)
