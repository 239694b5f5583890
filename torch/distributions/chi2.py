"""The chi-squared distribution."""

from torch.distributions import constraints
from torch.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Sum of `df` squared standard normals: gamma with shape df / 2 and rate 1 / 2."""

    arg_constraints = {"df": constraints.positive}
    _params = ("concentration", "rate")

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self):
        """Degrees of freedom."""
        return self.concentration * 2
