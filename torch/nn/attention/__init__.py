"""Which implementations ``scaled_dot_product_attention`` may use."""
from __future__ import annotations

import contextlib
from enum import IntEnum

__all__ = [
    "SDPBackend", "sdpa_kernel", "WARN_FOR_UNFUSED_KERNELS", "register_flash_attention_impl",
    "activate_flash_attention_impl", "list_flash_attention_impls",
    "current_flash_attention_impl", "restore_flash_attention_impl",
]

# Whether to warn why a fused implementation was not taken.
WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """Implementations of scaled dot-product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


# In the order in which they are tried; values name the switches of torch.backends.cuda.
_SWITCHES = {
    SDPBackend.CUDNN_ATTENTION: "cudnn",
    SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "mem_efficient",
    SDPBackend.MATH: "math",
}


def _cur_sdpa_kernel_backends(with_priority=False):
    """The implementations that are allowed now."""
    from torch.backends import cuda
    return [backend for backend, name in _SWITCHES.items()
            if getattr(cuda, name + "_sdp_enabled")()]


def _allow(backends):
    from torch.backends import cuda
    for backend, name in _SWITCHES.items():
        getattr(cuda, "enable_" + name + "_sdp")(backend in backends)


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Within it only `backends` may be used.

    Args:
        backends (SDPBackend or list of SDPBackend): the allowed implementations.
        set_priority (bool): whether they are also tried in the order of the list.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of "
                             f"SDPBackend instances, got {type(backends).__name__}")
    backends = [backends] if isinstance(backends, SDPBackend) else list(backends)
    before = _cur_sdpa_kernel_backends()
    try:
        _allow(set(backends))
        yield {}
    finally:
        _allow(set(before))


_flash_impls: dict = {}
_active_impl = None


def register_flash_attention_impl(impl, *, register_fn) -> None:
    """Make `register_fn` what ``activate_flash_attention_impl(impl)`` calls."""
    _flash_impls[impl] = register_fn


def list_flash_attention_impls():
    """The names that have been registered."""
    return sorted(_flash_impls)


def current_flash_attention_impl():
    """The active name, or None for the built-in one."""
    return _active_impl


def activate_flash_attention_impl(impl) -> None:
    """Call the registered function of `impl` and keep the handle that it returns."""
    global _active_impl
    register = _flash_impls.get(impl)
    if register is None:
        raise ValueError(f"Unknown flash attention impl '{impl}'. Available implementations: "
                         f"{list_flash_attention_impls()}")
    restore_flash_attention_impl(_raise_warn=False)
    _handles[impl] = register()
    _active_impl = impl


_handles: dict = {}


def restore_flash_attention_impl(_raise_warn=True) -> None:
    """Go back to the built-in implementation."""
    global _active_impl
    if _active_impl is None:
        if _raise_warn:
            import logging
            logging.getLogger(__name__).warning(
                "Trying to restore default FA2 impl when no custom impl was activated")
        return
    handle = _handles.pop(_active_impl, None)
    if handle is not None and hasattr(handle, "remove"):
        handle.remove()
    _active_impl = None
