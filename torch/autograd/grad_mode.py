"""Switches of gradient recording, as context managers and decorators."""
from typing import Any

import torch
from torch._C import _set_grad_enabled, is_grad_enabled
from torch.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode",
           "set_multithreading_enabled", "enforce_grad_layout_policy"]


class no_grad(_NoParamDecoratorContextManager):
    """Nothing is recorded inside: results have ``requires_grad=False``.

    Factory functions asked for ``requires_grad=True`` still give such tensors. The switch belongs
    to the thread. Use it as ``with torch.no_grad():`` or as a decorator.
    """

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _set_grad_enabled(False)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _set_grad_enabled(self.prev)


class enable_grad(_NoParamDecoratorContextManager):
    """Recording is on inside, also within :class:`no_grad`."""

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _set_grad_enabled(True)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _set_grad_enabled(self.prev)


class set_grad_enabled(_DecoratorContextManager):
    """Turns recording on or off: at once as a function call, and back at the end of a ``with``.

    Args:
        mode (bool): whether operations are recorded.
    """

    def __init__(self, mode: bool) -> None:
        self.prev = is_grad_enabled()
        self.mode = mode
        _set_grad_enabled(mode)

    def __call__(self, orig_func):
        _set_grad_enabled(self.prev)
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        _set_grad_enabled(self.mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _set_grad_enabled(self.prev)

    def __str__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}(mode={self.mode})"

    __repr__ = __str__

    def clone(self) -> "set_grad_enabled":
        return self.__class__(self.mode)


class inference_mode(_DecoratorContextManager):
    """Like :class:`no_grad`, and tensors made inside keep no version and can never be recorded.

    Args:
        mode (bool or function): whether the mode is on; a function is decorated.
    """

    def __new__(cls, mode=True):
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self._before = torch._C._enter_inference_mode(self.mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        torch._C._exit_inference_mode(self._before)

    def clone(self) -> "inference_mode":
        return self.__class__(self.mode)


_multithreading = True


class set_multithreading_enabled(_DecoratorContextManager):
    """Whether backward may use several threads.

    Backward on the CPU always runs on the thread that called it, so this only remembers the switch.
    """

    def __init__(self, mode: bool) -> None:
        global _multithreading
        self.prev = _multithreading
        self.mode = mode
        _multithreading = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        global _multithreading
        _multithreading = self.prev

    def clone(self) -> "set_multithreading_enabled":
        return self.__class__(self.mode)


def is_multithreading_enabled():
    """What :class:`set_multithreading_enabled` was last set to."""
    return _multithreading


class enforce_grad_layout_policy(_DecoratorContextManager):
    """Whether the first gradient of a leaf is always stored with the leaf's strides.

    With ``enable=False`` a gradient that nobody else holds is kept as it is, which saves a copy.
    As a function it acts at once; a ``with`` block puts the old choice back. It belongs to the
    thread.
    """

    def __init__(self, enable: bool = True) -> None:
        self.enable = enable
        self.prev = torch._C._set_enforce_grad_layout(enable)

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        torch._C._set_enforce_grad_layout(self.prev)

    def clone(self) -> "enforce_grad_layout_policy":
        return self.__class__(self.enable)


class _unsafe_preserve_version_counter(_DecoratorContextManager):
    """Writes inside do not count as changes of `tensors` (their versions are put back)."""

    def __init__(self, tensors) -> None:
        self.tensors = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        self.prev_versions = tuple(t._version for t in self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args) -> None:
        torch._C._set_versions(self.tensors, self.prev_versions)
