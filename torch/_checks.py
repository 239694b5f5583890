"""Conditions that raise when they do not hold: `torch._check` and its relatives."""

import torch

_UNSAID = ("Expected cond to be True, but got False. (Could this error message be improved? If so, "
           "please report an enhancement request to PyTorch.)")


def _text(message):
    if message is None:
        return _UNSAID
    return str(message() if callable(message) else message)


def _check_with(error_type, cond, message):
    """Raises `error_type` unless `cond`, a bool, is true. `message`: text, or what makes it."""
    if isinstance(cond, torch.Tensor):
        raise TypeError("cond must be a bool, but got a Tensor. For tensor conditions, use "
                        "torch._check_tensor_all() to assert that all elements are true.")
    if not isinstance(cond, (bool, torch.SymBool)):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise error_type(_text(message))


def _checker(name, error_type):
    def check(cond, message=None):
        _check_with(error_type, cond, message)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raises {error_type.__name__} unless `cond` is true."
    return check


_check = _checker("_check", RuntimeError)
_check_index = _checker("_check_index", IndexError)
_check_value = _checker("_check_value", ValueError)
_check_type = _checker("_check_type", TypeError)
_check_not_implemented = _checker("_check_not_implemented", NotImplementedError)


def _check_is_size(i, message=None, *, max=None):
    """Raises RuntimeError unless `i` is a size: not negative, at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type, cond, message=None):
    """Raises `error_type` unless all elements of a bool tensor are true."""
    if not isinstance(cond, torch.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype != torch.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond, message=None):
    """Raises RuntimeError unless all elements of a bool tensor are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(input, assert_msg=None):
    """Raises RuntimeError unless a one-element tensor is other than zero."""
    if not torch.is_nonzero(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _shape_as_tensor(self):
    """The sizes of a tensor, as an int64 tensor."""
    return torch.tensor(tuple(self.shape), dtype=torch.int64)
