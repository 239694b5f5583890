"""KL divergences between two distributions of one family."""

import math

import torch
from torch.distributions._matrix import half_log_det, mahalanobis
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.beta import Beta
from torch.distributions.binomial import Binomial
from torch.distributions.categorical import Categorical
from torch.distributions.cauchy import Cauchy
from torch.distributions.continuous_bernoulli import ContinuousBernoulli
from torch.distributions.dirichlet import Dirichlet
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.exponential import Exponential
from torch.distributions.gamma import Gamma
from torch.distributions.geometric import Geometric
from torch.distributions.gumbel import Gumbel
from torch.distributions.half_normal import HalfNormal
from torch.distributions.independent import Independent
from torch.distributions.kl import kl_divergence, register_kl
from torch.distributions.laplace import Laplace
from torch.distributions.lowrank_multivariate_normal import (LowRankMultivariateNormal,
                                                             lowrank_log_det,
                                                             lowrank_mahalanobis)
from torch.distributions.multivariate_normal import MultivariateNormal
from torch.distributions.normal import Normal
from torch.distributions.one_hot_categorical import OneHotCategorical
from torch.distributions.pareto import Pareto
from torch.distributions.poisson import Poisson
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.uniform import Uniform
from torch.distributions.utils import _sum_rightmost, euler_constant
from torch.nn.functional import softplus


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero = zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)
    return one + zero


@register_kl(Beta, Beta)
def _beta(p, q):
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    p_total, q_total = p1 + p0, q1 + q0
    norm = (q1.lgamma() + q0.lgamma() + p_total.lgamma()
            - p1.lgamma() - p0.lgamma() - q_total.lgamma())
    return (norm + (p1 - q1) * p1.digamma() + (p0 - q0) * p0.digamma()
            + (q_total - p_total) * p_total.digamma())


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p()
                          - (-q.probs).log1p())
    more, kl = torch.broadcast_tensors(p.total_count > q.total_count, kl)
    return kl.masked_fill(more, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = terms.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    # Chyzak and Nielsen (2019).
    top = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return top - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    return (p.mean * (p.logits - q.logits)
            + p._cont_bern_log_norm() + torch.log1p(-p.probs)
            - q._cont_bern_log_norm() - torch.log1p(-q.probs))


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    p_total, q_total = p.concentration.sum(-1), q.concentration.sum(-1)
    norm = (p_total.lgamma() - q_total.lgamma()
            + (q.concentration.lgamma() - p.concentration.lgamma()).sum(-1))
    mean_log = p.concentration.digamma() - p_total.digamma().unsqueeze(-1)
    return norm + ((p.concentration - q.concentration) * mean_log).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    """Bregman divergence of the log normaliser (Nielsen and Nock, 2010)."""
    if type(p) != type(q):  # noqa: E721  subclasses may have another parametrisation
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot"
            "                             be computed using Bregman divergences")
    p_params = [v.detach().requires_grad_() for v in p._natural_params]
    q_params = q._natural_params
    with torch.enable_grad():
        normalizer = p._log_normalizer(*p_params)
        grads = torch.autograd.grad(normalizer.sum(), p_params, create_graph=True)
    result = q._log_normalizer(*q_params) - normalizer
    for p_param, q_param, grad in zip(p_params, q_params, grads):
        result = result - _sum_rightmost((q_param - p_param) * grad, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    shape = p.concentration - q.concentration
    return (q.concentration * (p.rate / q.rate).log()
            + q.concentration.lgamma() - p.concentration.lgamma()
            + shape * p.concentration.digamma()
            + (q.rate - p.rate) * (p.concentration / p.rate))


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio = p.scale / q.scale
    offset = p.loc / q.scale - q.loc / q.scale
    mean_exp = torch.exp(-offset + (1 + ratio).lgamma())
    return -ratio.log() + offset + ratio * euler_constant + mean_exp - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return (-ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return kl.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return kl.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


def _solved_square(tril, matrix):
    """Squared Frobenius norm of tril^-1 matrix: the trace of (L L^T)^-1 M M^T."""
    shape = torch.broadcast_shapes(tril.shape[:-2], matrix.shape[:-2])
    solved = torch.linalg.solve_triangular(tril.expand(shape + tril.shape[-2:]),
                                           matrix.expand(shape + matrix.shape[-2:]), upper=False)
    return solved.pow(2).sum((-2, -1))


def _check_events(p, q, name):
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {name} with different event shapes cannot "
                         "be computed")


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    _check_events(p, q, "Multivariate Normals")
    p_tril, q_tril = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    log_ratio = half_log_det(q_tril) - half_log_det(p_tril)
    distance = mahalanobis(q_tril, q.loc - p.loc)
    return log_ratio + 0.5 * (_solved_square(q_tril, p_tril) + distance - p.event_shape[0])


def _lowrank_parts(d):
    return d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, d._capacitance_tril


def _lowrank_trace(q, root):
    """Trace of (W W^T + D)^-1 R R^T for q's W and D and R = `root`, by Woodbury."""
    factor, diagonal, capacitance = _lowrank_parts(q)
    scaled = factor.mT / diagonal.unsqueeze(-2)
    direct = (root.pow(2) / diagonal.unsqueeze(-1)).sum((-2, -1))
    return direct - _solved_square(capacitance, scaled @ root)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank_lowrank(p, q):
    _check_events(p, q, "Low Rank Multivariate Normals")
    log_ratio = lowrank_log_det(*_lowrank_parts(q)) - lowrank_log_det(*_lowrank_parts(p))
    q_factor, q_diagonal, q_capacitance = _lowrank_parts(q)
    distance = lowrank_mahalanobis(q_factor, q_diagonal, q.loc - p.loc, q_capacitance)
    roots = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag.sqrt().diag_embed()
    trace = sum(_lowrank_trace(q, root) for root in roots)
    return 0.5 * (log_ratio + trace + distance - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_lowrank(p, q):
    _check_events(p, q, "(Low Rank) Multivariate Normals")
    q_factor, q_diagonal, q_capacitance = _lowrank_parts(q)
    log_ratio = (lowrank_log_det(*_lowrank_parts(q))
                 - 2 * half_log_det(p._unbroadcasted_scale_tril))
    distance = lowrank_mahalanobis(q_factor, q_diagonal, q.loc - p.loc, q_capacitance)
    trace = _lowrank_trace(q, p._unbroadcasted_scale_tril)
    return 0.5 * (log_ratio + trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_multivariate(p, q):
    _check_events(p, q, "(Low Rank) Multivariate Normals")
    q_tril = q._unbroadcasted_scale_tril
    log_ratio = 2 * half_log_det(q_tril) - lowrank_log_det(*_lowrank_parts(p))
    distance = mahalanobis(q_tril, q.loc - p.loc)
    trace = (_solved_square(q_tril, p._unbroadcasted_cov_factor)
             + _solved_square(q_tril, p._unbroadcasted_cov_diag.sqrt().diag_embed()))
    return 0.5 * (log_ratio + trace + distance - p.event_shape[0])
