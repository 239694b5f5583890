"""Pruning: tensors of a module multiplied by masks of zeros and ones."""
from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

import torch


class BasePruningMethod(ABC):
    """A forward pre-hook that applies a mask; subclasses say which.

    A pruned tensor ``weight`` is kept as the parameter ``weight_orig``; the mask is the buffer
    ``weight_mask``; ``weight`` itself becomes their product.
    """

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask of `t`, within the mask `default_mask` of earlier prunings."""

    def apply_mask(self, module):
        """The product of original and mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        orig = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune the tensor `name` of `module`; further arguments go to the constructor.

        Args:
            importance_scores (Tensor, optional): decide instead of the values; same shape.
        """
        old_method = _take_out_hook(module, name)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        combined = method
        if old_method is not None:
            if isinstance(old_method, PruningContainer):
                old_method.add_pruning_method(method)
                combined = old_method
            else:
                combined = PruningContainer(old_method)
                combined.add_pruning_method(method)
        orig = getattr(module, name)
        if importance_scores is not None:
            if importance_scores.shape != orig.shape:
                raise AssertionError(
                    "importance_scores should have the same shape as parameter "
                    f"{name} of {module}, got {importance_scores.shape} vs {orig.shape}")
        else:
            importance_scores = orig
        if not isinstance(combined, PruningContainer):
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            default_mask = torch.ones_like(orig)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone(
                memory_format=torch.contiguous_format)
        try:
            mask = combined.compute_mask(importance_scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, combined.apply_mask(module))
            module.register_forward_pre_hook(combined)
        except Exception:
            if not isinstance(combined, PruningContainer):
                # Leave the module as it was.
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return combined

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned version of the tensor `t`, which itself stays as it is."""
        if importance_scores is not None:
            if importance_scores.shape != t.shape:
                raise AssertionError("importance_scores should have the same shape as tensor "
                                     f"t, got {importance_scores.shape} vs {t.shape}")
        else:
            importance_scores = t
        if default_mask is None:
            default_mask = torch.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module) -> None:
        """Make the pruned tensor an ordinary parameter again; it stays pruned."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(
                f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters[name + "_orig"]
        orig.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


def _take_out_hook(module, name):
    """Remove and return the pruning hook of `name`, or None."""
    found = [(key, hook) for key, hook in module._forward_pre_hooks.items()
             if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(found) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} "
                             f"of module {module}. Use a PruningContainer.")
    for key, hook in found:
        del module._forward_pre_hooks[key]
        return hook
    return None


class PruningContainer(BasePruningMethod):
    """Several prunings of one tensor, each within what the earlier ones left."""

    def __init__(self, *args) -> None:
        self._pruning_methods = ()
        if not isinstance(args, Iterable):
            self._tensor_name = args._tensor_name
            self.add_pruning_method(args)
        elif len(args) == 1:
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            for method in args:
                self.add_pruning_method(method)

    def add_pruning_method(self, method) -> None:
        """Add a pruning of the same tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The mask of the newest method, computed where `default_mask` still has ones."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            remaining = mask == 1
        elif kind == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    "Pruning methods of PRUNING_TYPE \"structured\" need to have the "
                    "attribute `dim` defined.")
            # Channels that are gone already must not be counted again.
            dims = t.dim()
            dim = method.dim if method.dim >= 0 else dims + method.dim
            others = [d for d in range(dims) if d != dim]
            kept = mask.sum(dim=others) != 0
            remaining = tuple(kept if d == dim else slice(None) for d in range(dims))
        elif kind == "global":
            remaining = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        new_mask = mask.clone()
        new_mask[remaining] = method.compute_mask(t[remaining], default_mask=mask[remaining])
        return new_mask


class Identity(BasePruningMethod):
    """Prunes nothing, but creates mask and original."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


def _flat_mask(t, default_mask, nparams_toprune, indices):
    """`default_mask` with zeros at what ``indices()`` lists of the flattened tensor."""
    mask = default_mask.clone(memory_format=torch.contiguous_format)
    if nparams_toprune != 0:
        mask.view(-1)[indices()] = 0
    return mask


class RandomUnstructured(BasePruningMethod):
    """Prunes random elements.

    Args:
        amount (int or float): how many, or which share.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        size = t.nelement()
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return _flat_mask(t, default_mask, count, lambda: torch.topk(
            torch.rand_like(t).view(-1), k=count).indices)

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of smallest magnitude.

    Args:
        amount (int or float): how many, or which share.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        size = t.nelement()
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return _flat_mask(t, default_mask, count, lambda: torch.topk(
            torch.abs(t).view(-1), k=count, largest=False).indices)

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount,
                             importance_scores=importance_scores)


def _channel_mask(t, default_mask, dim, channels):
    """`default_mask`, zero in all channels of `dim` but `channels`."""
    mask = torch.zeros_like(t)
    index = [slice(None)] * t.dim()
    index[dim] = channels
    mask[tuple(index)] = 1
    return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(BasePruningMethod):
    """Prunes random channels.

    Args:
        amount (int or float): how many, or which share.
        dim (int): the dimension of the channels. Default: -1.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        if count == 0:
            return default_mask
        draws = torch.rand(size)
        threshold = torch.kthvalue(draws, k=count).values
        return _channel_mask(t, default_mask, self.dim, draws > threshold)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the channels of smallest norm.

    Args:
        amount (int or float): how many, or which share.
        n (int, float, "fro" or "nuc"): the norm.
        dim (int): the dimension of the channels. Default: -1.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _compute_nparams_toprune(self.amount, size)
        keep = size - count
        _validate_pruning_amount(count, size)
        norm = _compute_norm(t, self.n, self.dim)
        channels = torch.topk(norm, k=keep, largest=True).indices
        if count == 0:
            return default_mask
        return _channel_mask(t, default_mask, self.dim, channels)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim,
                             importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask) -> None:
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError("default_mask and mask must have the same shape, got "
                                 f"{default_mask.shape} and {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Create mask and original of the tensor `name` without pruning; returns `module`."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune `amount` random elements (int) or that share (float); returns `module`."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the `amount` elements of smallest magnitude; returns `module`."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune `amount` random channels along `dim`; returns `module`."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the `amount` channels along `dim` of smallest `n`-norm; returns `module`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs) -> None:
    """Prune several tensors as if they were one.

    Args:
        parameters (iterable of (Module, str)): the tensors.
        pruning_method (class): an unstructured pruning method.
        importance_scores (dict, optional): from (module, name) to scores of the same shape.
        kwargs: for the constructor of `pruning_method`, such as ``amount``.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = importance_scores if importance_scores is not None else {}
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    scores = torch.nn.utils.parameters_to_vector(
        [importance_scores.get((module, name), getattr(module, name))
         for module, name in parameters])
    masks = torch.nn.utils.parameters_to_vector(
        [getattr(module, name + "_mask", torch.ones_like(getattr(module, name)))
         for module, name in parameters])
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
                        f"Found method {pruning_method} of type {method.PRUNING_TYPE}")
    final_mask = container.compute_mask(scores, masks)
    start = 0
    for module, name in parameters:
        param = getattr(module, name)
        stop = start + param.numel()
        custom_from_mask(module, name, mask=final_mask[start:stop].view_as(param))
        start = stop


def custom_from_mask(module, name, mask):
    """Prune the tensor `name` by `mask`; returns `module`."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Make the pruned tensor `name` an ordinary parameter again; it stays pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning "
                     "can be removed")


def is_pruned(module):
    """Whether anything in `module` is pruned."""
    return any(isinstance(hook, BasePruningMethod) for submodule in module.modules()
               for hook in submodule._forward_pre_hooks.values())


def _validate_pruning_amount_init(amount) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
            not isinstance(amount, numbers.Integral)
            and (float(amount) > 1.0 or float(amount) < 0.0)):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a "
                         "non-negative integer")


def _validate_pruning_amount(amount, tensor_size) -> None:
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to "
                         f"prune={tensor_size}")


def _validate_structured_pruning(t) -> None:
    if len(t.shape) <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. "
                         f"Found tensor of shape {t.shape} with {len(t.shape)} dims")


def _validate_pruning_dim(t, dim) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount, tensor_size):
    if isinstance(amount, numbers.Integral):
        return amount
    return round(amount * tensor_size)


def _compute_norm(t, n, dim):
    """The `n`-norm of each slice along `dim`."""
    others = [d for d in range(t.dim()) if d != (dim if dim >= 0 else t.dim() + dim)]
    return torch.norm(t, p=n, dim=others)
