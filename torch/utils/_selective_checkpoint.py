"""The two dispatch modes of selective checkpointing: one keeps results, one gives them back."""

from collections import defaultdict, deque

import torch
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

_RUN_AGAIN = object()  # stands in the place of a result that was not kept


class _Kept:
    """A result, and its version at the time it was kept."""

    def __init__(self, value):
        self._is_tensor = isinstance(value, torch.Tensor)
        self._value = value.detach() if self._is_tensor else value
        self._version = self._value._version if self._is_tensor else None

    def get(self, allow_mutation):
        if self._is_tensor and not allow_mutation and self._value._version != self._version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been "
                               "mutated")
        return self._value


class _Keeping(TorchDispatchMode):
    """First run: asks the policy, and keeps."""

    def __init__(self, policy, storage):
        super().__init__()
        self._policy, self._storage = policy, storage

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in checkpoint.SAC_IGNORED_OPS:
            return func(*args, **kwargs)
        out = func(*args, **kwargs)
        context = checkpoint.SelectiveCheckpointContext(is_recompute=False, op_output=out)
        choice = self._policy(context, func, *args, **kwargs)
        keep = choice is True or choice in checkpoint._SAVED
        self._storage[func].append(tree_map(_Kept, out) if keep else _RUN_AGAIN)
        return out


class _GivingBack(TorchDispatchMode):
    """Second run: results in the order in which the first run made them."""

    def __init__(self, storage, allow_mutation):
        super().__init__()
        self._storage, self._allow_mutation = storage, allow_mutation

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in checkpoint.SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        if func not in self._storage:
            raise RuntimeError(f"{func} encountered during backward, but not found in storage")
        if not self._storage[func]:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint.")
        entry = self._storage[func].popleft()
        if entry is _RUN_AGAIN:
            return func(*args, **(kwargs or {}))
        return tree_map(lambda kept: kept.get(self._allow_mutation), entry)


def make_modes(policy, allow_mutation):
    """(mode of the first run, mode of the second)"""
    storage = defaultdict(deque)
    return _Keeping(policy, storage), _GivingBack(storage, allow_mutation)
