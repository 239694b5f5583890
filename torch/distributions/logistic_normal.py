"""The logistic-normal distribution on the simplex."""

from torch.distributions import constraints
from torch.distributions.independent import Independent
from torch.distributions.normal import Normal
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Stick-breaking image (..., k + 1) of independent normals `loc`, `scale` (..., k)."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    _params = ()

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def _normal(self):
        base = self.base_dist
        return base.base_dist if isinstance(base, Independent) else base

    @property
    def loc(self):
        """Means of the normals."""
        return self._normal().loc

    @property
    def scale(self):
        """Standard deviations of the normals."""
        return self._normal().scale
