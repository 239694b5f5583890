"""Probability distributions, constraints, transforms and KL divergences.

Every name is looked up on first use, so importing this package costs next to nothing.
See `distribution.py` for the interface that all distributions share.
"""

from importlib import import_module as _import_module

_MODULES = {
    "bernoulli": "Bernoulli", "beta": "Beta", "binomial": "Binomial",
    "categorical": "Categorical", "cauchy": "Cauchy", "chi2": "Chi2",
    "continuous_bernoulli": "ContinuousBernoulli", "dirichlet": "Dirichlet",
    "distribution": "Distribution", "exp_family": "ExponentialFamily",
    "exponential": "Exponential", "fishersnedecor": "FisherSnedecor", "gamma": "Gamma",
    "generalized_pareto": "GeneralizedPareto", "geometric": "Geometric", "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal", "independent": "Independent",
    "inverse_gamma": "InverseGamma", "kumaraswamy": "Kumaraswamy",
    "lkj_cholesky": "LKJCholesky", "laplace": "Laplace", "log_normal": "LogNormal",
    "logistic_normal": "LogisticNormal",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "mixture_same_family": "MixtureSameFamily", "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal", "negative_binomial": "NegativeBinomial",
    "normal": "Normal", "one_hot_categorical": "OneHotCategorical "
    "OneHotCategoricalStraightThrough", "pareto": "Pareto",
    "relaxed_bernoulli": "RelaxedBernoulli", "relaxed_categorical": "RelaxedOneHotCategorical",
    "studentT": "StudentT", "poisson": "Poisson", "uniform": "Uniform",
    "von_mises": "VonMises", "weibull": "Weibull", "wishart": "Wishart",
    "transformed_distribution": "TransformedDistribution",
    "constraint_registry": "biject_to transform_to", "kl": "kl_divergence register_kl",
    "transforms": "AbsTransform AffineTransform CatTransform ComposeTransform "
    "CorrCholeskyTransform CumulativeDistributionTransform ExpTransform IndependentTransform "
    "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
    "SigmoidTransform SoftplusTransform TanhTransform SoftmaxTransform StackTransform "
    "StickBreakingTransform Transform identity_transform",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
_SUBMODULES = frozenset(_MODULES) | {"constraints", "utils"}

__all__ = list(_HOME)


def __getattr__(name):
    if name in _HOME:
        value = getattr(_import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _SUBMODULES:
        value = _import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_HOME) | _SUBMODULES)


from torch._lazy_module import complete_dict as _complete_dict  # noqa: E402

_complete_dict(__name__)
