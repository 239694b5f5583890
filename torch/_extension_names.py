"""Names of `torch._C` that are written in Python. They are loaded when first used."""

import torch
from torch import _C


def _log_api_usage_once(event):
    """Nothing is logged or sent."""


def _get_accelerator(check=None):
    """The accelerator of this machine: without one, the CPU."""
    return torch.device("cpu")


def _get_default_device():
    """The type of the default device, as text."""
    return torch.get_default_device().type


def _get_privateuse1_backend_name():
    return "privateuseone"


def _is_alias_of(a, b):
    """Do two tensors share a storage?"""
    return a.untyped_storage()._cdata == b.untyped_storage()._cdata


def _are_functorch_transforms_active():
    """Is a transform of `torch.func` running? Transforms here work on plain tensors."""
    return False


def _cuda_isInBadFork():
    return False


def _is_torch_function_mode_enabled():
    """Is a `TorchFunctionMode` active?"""
    return _C._len_torch_function_stack() > 0


def _get_tracing_state():
    """The state of `torch.jit.trace`, or None."""
    from torch import jit

    return True if jit.is_tracing() else None
