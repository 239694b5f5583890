"""Forward-mode differentiation: tensors that carry a tangent."""
from collections import namedtuple

import torch
from torch import _C
from torch.utils._contextlib import _DecoratorContextManager

__all__ = ["UnpackedDualTensor", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual",
           "dual_level"]

_current_level = -1


def enter_dual_level():
    """Open a level: tensors made dual inside carry tangents until it is left; gives its number."""
    global _current_level
    level = _C._enter_dual_level()
    if level != _current_level + 1:
        raise RuntimeError(
            "Entering a new forward AD level but the current level is not valid. Make "
            "sure you did not modified it directly."
        )
    _current_level = level
    return level


def exit_dual_level(*, level=None):
    """Leave the level; all tangents of it are gone."""
    global _current_level
    if _current_level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    if level is None:
        level = _current_level
    if level != _current_level:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was "
                           "created. This is not supported.")
    _C._exit_dual_level(level)
    _current_level = level - 1


def make_dual(tensor, tangent, *, level=None):
    """A view of `tensor` with `tangent` attached (of the same size; floating point or complex)."""
    if level is None:
        level = _current_level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make "
            "sure to enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(
            f"Expected primal to be floating point or complex, but got: {tensor.dtype}"
        )
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(
            f"Expected tangent to be floating point or complex, but got: {tangent.dtype}"
        )
    return _C._make_dual(tensor, tangent, level)


class UnpackedDualTensor(namedtuple("_Unpacked", ("primal", "tangent"))):
    """``(primal, tangent)``; the tangent is ``None`` for a tensor without one."""

    __slots__ = ()

    def __repr__(self):
        return f"UnpackedDualTensor(primal={self.primal!r}, tangent={self.tangent!r})"


def unpack_dual(tensor, *, level=None):
    """Take a dual tensor apart. Outside any level the tangent is ``None``."""
    if level is None:
        level = _current_level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor, level))


class dual_level(_DecoratorContextManager):
    """``with dual_level():`` opens a level and leaves it at the end. Levels do not nest."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, exc_type, exc_value, traceback):
        exit_dual_level()


def _is_fwd_grad_enabled():
    return _C._is_forward_grad_enabled()


class _set_fwd_grad_enabled(_DecoratorContextManager):
    """Whether tangents are propagated: at once, and as before at the end of a ``with``."""

    def __init__(self, mode):
        self.prev = _is_fwd_grad_enabled()
        self.mode = mode
        _C._set_forward_grad_enabled(mode)

    def __enter__(self):
        pass

    def __exit__(self, exc_type, exc_value, traceback):
        _C._set_forward_grad_enabled(self.prev)

    def clone(self):
        return self.__class__(self.mode)
