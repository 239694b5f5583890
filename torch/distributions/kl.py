"""KL divergences KL(p || q): the registry and its dispatch by class.

The formulas are in `_kl_same.py` (p and q of one family) and `_kl_cross.py`; most are
-H(p) - E_p[log q(x)] with the expectation in closed form.
"""

import functools
import warnings

from torch.distributions.distribution import Distribution

__all__ = ["register_kl", "kl_divergence"]

_KL_REGISTRY = {}  # (class of p, class of q) -> function
_KL_MEMOIZE = {}  # the same for every pair of classes that was asked for


def register_kl(type_p, type_q):
    """Decorator: registers a function of (p, q) as KL(p || q) for these classes.

    Subclasses use it too; of several the most specific one wins.
    Raises TypeError for what is not a subclass of Distribution.
    """
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(fun):
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()
        return fun

    return decorator


@functools.total_ordering
class _Match:
    """Orders tuples of classes: smaller is more specific, compared from the left."""

    __slots__ = ["types"]

    def __init__(self, *types):
        self.types = types

    def __eq__(self, other):
        return self.types == other.types

    def __le__(self, other):
        for mine, others in zip(self.types, other.types):
            if not issubclass(mine, others):
                return False
            if mine is not others:
                break
        return True

    __hash__ = None


def _dispatch_kl(type_p, type_q):
    """The most specific registered function; warns where p and q disagree on it."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return NotImplemented
    left_p, left_q = min(_Match(*m) for m in matches).types
    right_q, right_p = min(_Match(*reversed(m)) for m in matches).types
    left = _KL_REGISTRY[left_p, left_q]
    right = _KL_REGISTRY[right_p, right_q]
    if left is not right:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({left_p.__name__}, {right_q.__name__})", RuntimeWarning, stacklevel=3)
    return left


def kl_divergence(p, q):
    """KL(p || q) over the batch shape; NotImplementedError for pairs without a formula."""
    key = (type(p), type(q))
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    fun = _KL_MEMOIZE[key]
    if fun is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type "
            f"{q.__class__.__name__}")
    return fun(p, q)


import torch.distributions._kl_cross  # noqa: E402,F401  fills the registry
import torch.distributions._kl_same  # noqa: E402,F401
