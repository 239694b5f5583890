"""KL divergences between distributions of different families."""

import math

import torch
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.beta import Beta
from torch.distributions.binomial import Binomial
from torch.distributions.continuous_bernoulli import ContinuousBernoulli
from torch.distributions.exponential import Exponential
from torch.distributions.gamma import Gamma
from torch.distributions.gumbel import Gumbel
from torch.distributions.kl import register_kl
from torch.distributions.laplace import Laplace
from torch.distributions.normal import Normal
from torch.distributions.pareto import Pareto
from torch.distributions.poisson import Poisson
from torch.distributions.uniform import Uniform
from torch.distributions.utils import euler_constant


def _for_pairs(types_p, type_q):
    def decorator(fun):
        for type_p in types_p:
            register_kl(type_p, type_q)(fun)
        return fun
    return decorator


def _infinite_where(mask, kl):
    mask, kl = torch.broadcast_tensors(mask, kl)
    return kl.masked_fill(mask, math.inf)


# Supports that q does not cover: infinite whatever the parameters are.
_NEVER_COVERED = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
_REPRESENTATIVE = {Beta: "concentration1", ContinuousBernoulli: "probs", Exponential: "rate",
                   Gamma: "concentration", Gumbel: "loc", Laplace: "loc", Normal: "loc",
                   Pareto: "scale", Poisson: "rate"}


def _infinite(p, q):
    name = next(_REPRESENTATIVE[c] for c in type(p).__mro__ if c in _REPRESENTATIVE)
    return torch.full_like(getattr(p, name), math.inf)


for _type_p, _types_q in _NEVER_COVERED.items():
    for _type_q in _types_q:
        register_kl(_type_p, _type_q)(_infinite)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@_for_pairs((Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform),
            Normal)
def _to_normal(p, q):
    variance = q.scale.pow(2)
    spread = p.variance + (p.mean - q.loc).pow(2)
    return -p.entropy() + 0.5 * (2 * math.pi * variance).log() + 0.5 * spread / variance


@_for_pairs((Beta, ContinuousBernoulli, Gamma, Pareto, Uniform), Exponential)
def _to_exponential(p, q):
    kl = -p.entropy() - q.rate.log() + q.rate * p.mean
    return _infinite_where(p.low < 0, kl) if isinstance(p, Uniform) else kl


def _mean_log(p):
    """E[log x]."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low, high):
    """Mean of log x for x uniform between the two."""
    return (torch.xlogy(high, high) - torch.xlogy(low, low)) / (high - low) - 1


@_for_pairs((Beta, Exponential, Pareto, Uniform), Gamma)
def _to_gamma(p, q):
    kl = (-p.entropy() + q.concentration.lgamma() - q.concentration * q.rate.log()
          - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean)
    return _infinite_where(p.low < 0, kl) if isinstance(p, Uniform) else kl


@_for_pairs((Beta, ContinuousBernoulli), Uniform)
def _unit_to_uniform(p, q):
    kl = -p.entropy() + (q.high - q.low).log()
    return _infinite_where((q.low > 0) | (q.high < 1), kl)


@_for_pairs((Beta, Uniform), ContinuousBernoulli)
def _to_continuous_bernoulli(p, q):
    kl = (-p.entropy() - p.mean * q.logits - torch.log1p(-q.probs)
          - q._cont_bern_log_norm())
    if isinstance(p, Uniform):
        return _infinite_where((p.high > 1) | (p.low < 0), kl)
    return kl


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    mean_log_rest = _mean_log_between(1 - p.high, 1 - p.low)
    log_beta = (q.concentration1.lgamma() + q.concentration0.lgamma()
                - (q.concentration1 + q.concentration0).lgamma())
    kl = (-p.entropy() - (q.concentration1 - 1) * _mean_log(p)
          - (q.concentration0 - 1) * mean_log_rest + log_beta)
    return _infinite_where((p.high > 1) | (p.low < 0), kl)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    kl = -p.entropy() - q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * _mean_log(p)
    return _infinite_where(p.low < q.scale, kl)


def _to_gumbel(p, q, mean_exp):
    """With `mean_exp` = E[exp(-(x - loc) / scale)] for q's loc and scale."""
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) / q.scale + mean_exp


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    scaled_rate = p.rate * q.scale
    return _to_gumbel(p, q, torch.exp(q.loc / q.scale) * scaled_rate / (scaled_rate + 1))


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    log_mean = -p.concentration * (p.rate * q.scale).reciprocal().log1p() + q.loc / q.scale
    return _to_gumbel(p, q, log_mean.exp())


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    log_mean = (q.loc - p.loc) / q.scale + 0.5 * (p.scale / q.scale).pow(2)
    return _to_gumbel(p, q, log_mean.exp())


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    at_low = torch.exp((q.loc - p.low) / q.scale)
    at_high = torch.exp((q.loc - p.high) / q.scale)
    return _to_gumbel(p, q, q.scale * (at_low - at_high) / (p.high - p.low))


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    offset = p.loc - q.loc
    standard = offset / p.scale
    mean_abs = (math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * standard.pow(2))
                + offset * torch.erf(standard / math.sqrt(2)))
    return -p.entropy() + (2 * q.scale).log() + mean_abs / q.scale
