"""Parameters and buffers: the tensors that a Module owns."""
from collections import OrderedDict

import torch
from torch import Tensor

try:
    from torch._C import _disabled_torch_function_impl
except ImportError:  # the core then treats every Parameter as a plain Tensor
    _disabled_torch_function_impl = None

_TensorMeta = type(Tensor)


class _ParameterMeta(_TensorMeta):
    """Lets tensors of a user's subclass count as parameters once they carry `_is_param`."""

    def __instancecheck__(self, instance):
        if type.__instancecheck__(self, instance):
            return True
        return (self is Parameter and isinstance(instance, Tensor)
                and getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a Module registers by itself when it is assigned as an attribute.

    Args:
        data (Tensor): the values; shared with the parameter, not copied.
        requires_grad (bool): whether gradients are recorded. Default: ``True``.
    """

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = torch.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            return Tensor._make_subclass(cls, data, requires_grad)
        # A user's own tensor class keeps its class and is only marked.
        marked = data.detach().requires_grad_(requires_grad)
        if type(marked) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} "
                "requires that detach() returns an instance of the same type, but return "
                f"type {type(marked).__name__} was found instead. To use the type as a "
                "Parameter, please correct the detach() semantics defined by its "
                "__torch_dispatch__() implementation.")
        marked._is_param = True
        return marked

    def __deepcopy__(self, memo):
        done = memo.get(id(self))
        if done is not None:
            return done
        result = type(self)(self.data.clone(memory_format=torch.preserve_format),
                            self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, proto):
        from torch import _utils
        state = _utils._get_obj_state(self)
        # Hooks are functions of one process: they do not travel with the values.
        head = (self.data, self.requires_grad, OrderedDict())
        if not state:
            return (_utils._rebuild_parameter, head)
        return (_utils._rebuild_parameter_with_state, (*head, state))

    if _disabled_torch_function_impl is not None:
        __torch_function__ = _disabled_torch_function_impl


class UninitializedTensorMixin:
    """A tensor without a shape yet; `materialize` gives it one, and its final class."""

    _allowed_methods = frozenset((
        "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double",
        "char", "short", "int", "long", "cuda", "cpu", "to", "get_device",
        "_has_compatible_shallow_copy_type", "__reduce_ex__", "__format__"))

    def materialize(self, shape, device=None, dtype=None):
        """Allocate uninitialized storage of `shape` and become an ordinary tensor."""
        if device is None:
            device = self.data.device
        if dtype is None:
            dtype = self.data.dtype
        self.data = torch.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error "
            "usually happens in `load_state_dict` when trying to load an uninitialized "
            "parameter into an initialized one. Call `forward` to initialize the parameters "
            "before accessing their attributes.")

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`.")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, proto):
        return (type(self), (self.requires_grad,))

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        # Attribute reads come as a property's `__get__` or `__set__`.
        name = getattr(func, "__name__", "")
        if name in cls._allowed_methods or name in ("__get__", "__set__"):
            return super().__torch_function__(func, types, args, kwargs or {})
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when "
            "you are using a `LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch "
            "functions")


def is_lazy(param):
    """True while `param` is still waiting for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter whose shape is found out at the first forward.

    Args:
        requires_grad (bool): as for :class:`Parameter`.
        device, dtype: where and what it will be unless `materialize` says otherwise.
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        data = torch.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        done = memo.get(id(self))
        if done is not None:
            return done
        result = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = result
        return result


class _BufferMeta(_TensorMeta):
    """Any tensor marked `_is_buffer` is an instance of :class:`Buffer`."""

    def __instancecheck__(self, instance):
        if type.__instancecheck__(self, instance):
            return True
        return (self is Buffer and isinstance(instance, Tensor)
                and getattr(instance, "_is_buffer", False))


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as a buffer when it is assigned as an attribute.

    Args:
        data (Tensor): the values; shared, not copied.
        persistent (bool): whether the buffer belongs to ``state_dict``. Default: ``True``.
    """

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = torch.empty(0)
        marked = data.detach().requires_grad_(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked

    if _disabled_torch_function_impl is not None:
        __torch_function__ = _disabled_torch_function_impl


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is found out at the first forward."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        data = torch.empty(0, device=device, dtype=dtype)
        lazy = Tensor._make_subclass(cls, data, requires_grad)
        lazy.persistent = persistent
        lazy._is_buffer = True
        return lazy
