"""Common part of the distributions given by either `probs` or `logits`."""

import torch
from torch.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def check_either(probs, logits):
    """Raises ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class BinaryParam:
    """Keeps the parameter that was given; the other one is computed when it is asked for."""

    def _set_param(self, probs, logits):
        """Stores the parameter and returns the batch shape it implies."""
        check_either(probs, logits)
        given = logits if probs is None else probs
        (tensor,) = broadcast_all(given)
        setattr(self, "logits" if probs is None else "probs", tensor)
        return torch.Size() if isinstance(given, (int, float)) else tensor.size()

    def _set_count_and_param(self, total_count, probs, logits):
        check_either(probs, logits)
        given = logits if probs is None else probs
        total_count, tensor = broadcast_all(total_count, given)
        self.total_count = total_count.type_as(tensor)
        setattr(self, "logits" if probs is None else "probs", tensor)
        return tensor.size()

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @property
    def _param(self):
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits

    @lazy_property
    def logits(self):
        """Log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """Probability of success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        """Shape of the parameter that was given."""
        return self._param.size()
