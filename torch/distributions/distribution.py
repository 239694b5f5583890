"""The interface of all distributions: shapes, validation, `expand`, the methods to override.

A distribution names the tensors that `expand` carries over in `_params` (each has the batch
shape in front of its own dimensions) and the plain attributes it copies in `_shared`.
"""

import warnings

import torch
from torch.distributions import constraints
from torch.distributions.utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """Abstract base class of the distributions.

    `batch_shape` is the shape of the set of independent draws, `event_shape` that of one draw.
    With `validate_args` parameters and values are checked (ValueError).
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _shared = ()

    @staticmethod
    def set_default_validate_args(value):
        """Turns validation on or off for distributions made from now on."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(f"{self.__class__} does not define `arg_constraints`. Please set "
                          "`arg_constraints = {}` or initialize the distribution with "
                          "`validate_args=False` to turn off validation.", stacklevel=3)
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None),
                                                        lazy_property):
                continue  # not given, and checking it would compute it
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}")

    def expand(self, batch_shape, _instance=None):
        """The same distribution with its batch dimensions expanded to `batch_shape`."""
        owner = next((c for c in type(self).__mro__ if "_params" in c.__dict__), None)
        if owner is None:
            raise NotImplementedError
        new = self._get_checked_instance(owner, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in owner._params:
            if name in self.__dict__:
                value = self.__dict__[name]
                tail = value.shape[len(self._batch_shape):]
                new.__dict__[name] = value.expand(batch_shape + tail)
        for name in owner._shared:
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        owner._expand_parts(self, new, batch_shape)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_parts(self, new, batch_shape):
        """Hook of `expand` for distributions that contain other distributions."""

    @property
    def batch_shape(self):
        """Shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self):
        """Shape of a single draw (without batching)."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """Dictionary from argument names to their constraints."""
        raise NotImplementedError

    @property
    def support(self):
        """Constraint that every draw satisfies."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The most likely value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):
        """Draws of shape `sample_shape + batch_shape + event_shape`, without gradient."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        """Like `sample`, differentiable in the parameters (reparameterised)."""
        raise NotImplementedError

    def sample_n(self, n):
        """`sample((n,))`; deprecated."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
                      FutureWarning, stacklevel=2)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value):
        """Logarithm of the density or probability at `value`."""
        raise NotImplementedError

    def cdf(self, value):
        """Probability of a draw not above `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """Quantile: the inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        """Entropy in nats, of shape `batch_shape`."""
        raise NotImplementedError

    def perplexity(self):
        """exp(entropy), of shape `batch_shape`."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=torch.Size()):
        if not isinstance(sample_shape, torch.Size):
            sample_shape = torch.Size(sample_shape)
        return torch.Size(sample_shape + self._batch_shape + self._event_shape)

    def _validate_sample(self, value):
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.shape[start:] != self._event_shape:
            raise ValueError("The right-most size of value must match event_shape: "
                             f"{value.size()} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for have, want in zip(reversed(value.shape), reversed(expected)):
            if have != 1 and want != 1 and have != want:
                raise ValueError("Value is not broadcastable with batch_shape+event_shape: "
                                 f"{value.size()} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{self.__class__} does not define `support` to enable sample "
                          "validation. Please initialize the distribution with "
                          "`validate_args=False` to turn off validation.", stacklevel=3)
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}")

    def _get_checked_instance(self, cls, _instance=None):
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self):
        shown = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return self.__class__.__name__ + "(" + ", ".join(shown) + ")"
