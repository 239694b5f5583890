"""Parametrizations: a tensor of a module computed from other parameters by modules.

The module's class is replaced by a subclass of its own, in which the tensor is a property.
"""
from __future__ import annotations

import collections.abc
import copy
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.modules.container import ModuleDict, ModuleList
from torch.nn.parameter import Parameter

__all__ = ["cached", "ParametrizationList", "register_parametrization", "is_parametrized",
           "remove_parametrizations", "type_before_parametrizations",
           "transfer_parametrizations_and_params"]

_cache_enabled = 0
_cache: dict = {}


@contextmanager
def cached():
    """Within it every parametrized tensor is computed once and then kept."""
    global _cache
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _register_parameter_or_buffer(module, name, X):
    if isinstance(X, Parameter):
        module.register_parameter(name, X)
    else:
        module.register_buffer(name, X)


def _set_values(dest, src):
    """Let `dest` have the values, and the shape, of `src`."""
    if dest is not src:
        dest.data = src.detach()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors that they start from.

    Args:
        modules (sequence of Module): applied one after the other.
        original (Parameter or Tensor): the tensor so far.
        unsafe (bool): whether shape and dtype may change. Default: ``False``.

    The start is ``original``, or ``original0``, ``original1``, ... where the ``right_inverse``
    of the first module returns several tensors.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules, original, unsafe=False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        start = self._invert_at_registration(original)
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            if dtype != start.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {start.dtype}")
            if original.device != start.device:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the device.\n"
                    f"original.device: {original.device}\n"
                    f"right_inverse(original).device: {start.device}")
            # The Parameter object stays: optimizers may hold it already.
            _set_values(original, start)
            _register_parameter_or_buffer(self, "original", original)
        else:
            self._register_several(original, start)
        if not self.unsafe:
            self._check_result(shape, dtype)

    def _invert_at_registration(self, original):
        with torch.no_grad():
            start = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    try:
                        start = module.right_inverse(start)
                    except NotImplementedError:
                        pass
        if not isinstance(start, Tensor) and not isinstance(start, collections.abc.Sequence):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors "
                             f"(list, tuple...). Got {type(start).__name__}")
        return start

    def _register_several(self, original, start):
        for i, tensor in enumerate(start):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                    f"tuple...). Got element {i} of the sequence with type "
                    f"{type(tensor).__name__}.")
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _register_parameter_or_buffer(self, f"original{i}", tensor)

    def _check_result(self, shape, dtype):
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError("A parametrization must return a tensor. Got "
                             f"{type(result).__name__}.")
        for what, before, after in (("dtype", dtype, result.dtype),
                                    ("shape", shape, result.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, "
                    f"unless `unsafe` flag is enabled.\nunparametrized {what}: {before}\n"
                    f"parametrized {what}: {after}")

    def right_inverse(self, value) -> None:
        """Assign to the parametrized tensor: set the originals so that it becomes `value`."""
        with torch.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not "
                                       "implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self._assign_one(value)
            else:
                self._assign_several(value)

    def _assign_one(self, value):
        if not isinstance(value, Tensor):
            raise ValueError(
                f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while "
                f"`original` has dtype {self.original.dtype}")
        _set_values(self.original, value)

    def _assign_several(self, value):
        if not isinstance(value, collections.abc.Sequence):
            raise ValueError("'right_inverse' must return a sequence of tensors. Got "
                             f"{type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ValueError("'right_inverse' must return a sequence of tensors of length "
                             f"{self.ntensors}. Got a sequence of length {len(value)}.")
        for i, tensor in enumerate(value):
            original = getattr(self, f"original{i}")
            if not isinstance(tensor, Tensor):
                raise ValueError(f"`right_inverse` must return a sequence of tensors. Got "
                                 f"element {i} of type {type(tensor).__name__}")
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} while "
                    f"`original{i}` has dtype {original.dtype}")
            _set_values(original, tensor)

    def forward(self):
        if self.is_tensor:
            value = self[0](self.original)
        else:
            value = self[0](*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in list(self._modules.values())[1:]:
            value = module(value)
        return value


def _inject_new_class(module):
    """Give `module` a class of its own, which the properties go to."""
    cls = module.__class__

    def default_deepcopy(self, memo):
        done = memo.get(id(self))
        if done is not None:
            return done
        replica = self.__new__(self.__class__)
        memo[id(self)] = replica
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
        return replica

    def getstate(self):
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). "
            "See:\nhttps://pytorch.org/tutorials/beginner/saving_loading_models.html#"
            "saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")

    members = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = default_deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _inject_property(module, tensor_name):
    """Make `tensor_name` a property of the module's own class."""

    def get_cached_parametrization(parametrization):
        key = (id(module), tensor_name)
        tensor = _cache.get(key)
        if tensor is None:
            tensor = parametrization()
            _cache[key] = tensor
        return tensor

    def get_parametrized(self):
        parametrization = self.parametrizations[tensor_name]
        if _cache_enabled and self is module:
            return get_cached_parametrization(parametrization)
        return parametrization()

    def set_original(self, value):
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(module.__class__, tensor_name, property(get_parametrized, set_original))


def _check_same(what, text_name, before, text_other, after):
    if before != after:
        raise ValueError(
            f"Registering a parametrization may not change the {what} of the tensor, unless "
            f"the `unsafe` flag is enabled.\n{text_name}.{what}: {before}\n"
            f"{text_other}.{what}: {after}")


def _check_appended(module, tensor_name, parametrization):
    """Raise where a further parametrization changes dtype or shape."""
    before = getattr(module, tensor_name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(
            f"A parametrization must return a tensor. Got {type(after).__name__}.")
    name = f"module.{tensor_name}"
    _check_same("dtype", name, before.dtype, f"parametrization({name})", after.dtype)
    _check_same("shape", name, before.shape, f"parametrization({name})", after.shape)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError("parametrization.right_inverse must return a tensor. Got: "
                         f"{type(back).__name__}")
    for what, expected, got in (("dtype", before.dtype, back.dtype),
                                ("shape", before.shape, back.shape)):
        if expected != got:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same "
                f"{what} as {name}, unless the `unsafe` flag is enabled.\n"
                f"{name}.{what}: {expected}\nreturned {what}: {got}")


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Let the tensor `tensor_name` of `module` be computed by `parametrization`.

    Args:
        module (Module): the owner; it is changed and returned.
        tensor_name (str): a parameter or buffer; it moves to
            ``module.parametrizations.<tensor_name>.original``.
        parametrization (Module): called with the original; its optional ``right_inverse``
            makes the tensor assignable.
        unsafe (bool): keyword only; whether shape and dtype may change, and are not checked.

    Raises:
        ValueError: where there is no such tensor, or shape or dtype would change.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_appended(module, tensor_name, parametrization)
        entry = module.parametrizations[tensor_name]
        entry.append(parametrization)
        entry.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        entry = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = entry
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized "
            f"element with name '{tensor_name}'")
    return module


def is_parametrized(module, tensor_name=None):
    """Whether `module`, or its tensor `tensor_name`, has a parametrization."""
    parametrizations = getattr(module, "parametrizations", None)
    if parametrizations is None or not isinstance(parametrizations, ModuleDict):
        return False
    if tensor_name is None:
        return len(parametrizations) > 0
    return tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Remove all parametrizations of a tensor.

    Args:
        module (Module): the owner; it is changed and returned.
        tensor_name (str): the tensor.
        leave_parametrized (bool): whether it keeps its present value rather than that of the
            original. Default: ``True``.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"Module {module} does not have a parametrization on {tensor_name}")
    entry = module.parametrizations[tensor_name]
    if entry.is_tensor:
        original = entry.original
        if leave_parametrized:
            with torch.no_grad():
                value = getattr(module, tensor_name)
            _set_values(original, value)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor "
                         "that is parametrized in terms of a sequence of tensors.")
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class that `module` had before its first parametrization."""
    if is_parametrized(module):
        return module.__class__.__bases__[0]
    return type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Give `to_module` the parametrizations of `from_module` and the tensors behind them.

    Args:
        tensor_name (str, optional): only this tensor; None means all of them.
    """
    if not is_parametrized(from_module):
        return to_module
    if not isinstance(from_module.parametrizations, ModuleDict):
        raise AssertionError("from_module.parametrizations must be a ModuleDict")
    names = from_module.parametrizations if tensor_name is None else [tensor_name]
    for name in names:
        entry = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in entry:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        if hasattr(entry, "original"):
            target.original = entry.original
        else:
            for i in range(entry.ntensors):
                setattr(target, f"original{i}", getattr(entry, f"original{i}"))
    return to_module
