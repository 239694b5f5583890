"""Losses of `torch.nn.functional`: the core's, with the reduction by name."""

import torch
from torch.nn import _reduction as _Reduction
from torch.nn.functional import (
    _op, _override, _warn, has_torch_function_variadic,
)


def _enum(reduction, size_average, reduce):
    """The core's number of a reduction; the older flags win when they are given."""
    if size_average is not None or reduce is not None:
        return _Reduction.legacy_get_enum(size_average, reduce)
    return _Reduction.get_enum(reduction)


def _same_size(input, target):
    """Both of one size, with a warning when they are not."""
    if target.size() == input.size():
        return input, target
    _warn(f"Using a target size ({target.size()}) that is different to the input size "
          f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
          "Please ensure they have the same size.", 4)
    return torch.broadcast_tensors(input, target)


def _weighted(terms, weight, input, reduction):
    """Element losses weighted; the mean is over the sum of the weights."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    terms = terms * weight
    if reduction == "none":
        return terms
    if reduction == "sum":
        return torch.sum(terms)
    if reduction == "mean":
        return torch.sum(terms) / torch.sum(weight)
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target)**2, reduced; with `weight`, a weighted mean."""
    if has_torch_function_variadic(input, target, weight):
        return _override(mse_loss, (input, target, weight), input, target,
                         size_average=size_average, reduce=reduce, reduction=reduction,
                         weight=weight)
    a, b = _same_size(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if weight is not None:
        return _weighted(_op.mse_loss(a, b, 0), weight, input, reduction)
    return _op.mse_loss(a, b, _Reduction.get_enum(reduction))


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|, reduced; with `weight`, a weighted mean."""
    if has_torch_function_variadic(input, target, weight):
        others = {} if weight is None else {"weight": weight}
        return _override(l1_loss, (input, target, weight), input, target,
                         size_average=size_average, reduce=reduce, reduction=reduction, **others)
    a, b = _same_size(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if weight is not None:
        return _weighted(_op.l1_loss(a, b, 0), weight, input, reduction)
    if a.is_complex() or b.is_complex():
        terms = (a - b).abs()
        number = _Reduction.get_enum(reduction)
        return terms.mean() if number == 1 else terms.sum() if number == 2 else terms
    return _op.l1_loss(a, b, _Reduction.get_enum(reduction))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Squares below `beta`, absolute values above."""
    if has_torch_function_variadic(input, target):
        return _override(smooth_l1_loss, (input, target), input, target, size_average=size_average,
                         reduce=reduce, reduction=reduction, beta=beta)
    a, b = _same_size(input, target)
    number = _enum(reduction, size_average, reduce)
    if beta == 0.0:
        return _op.l1_loss(a, b, number)
    return _op.smooth_l1_loss(a, b, number, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Squares below `delta`, linear above; with `weight`, a weighted mean."""
    if has_torch_function_variadic(input, target, weight):
        return _override(huber_loss, (input, target, weight), input, target, reduction=reduction,
                         delta=delta, weight=weight)
    a, b = _same_size(input, target)
    if weight is None:
        return _op.huber_loss(a, b, _Reduction.get_enum(reduction), delta)
    return _weighted(_op.huber_loss(a, b, 0, delta), weight, input, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input)), targets of -1 and 1."""
    if has_torch_function_variadic(input, target):
        return _override(soft_margin_loss, (input, target), input, target,
                         size_average=size_average, reduce=reduce, reduction=reduction)
    return _op.soft_margin_loss(input, target, _enum(reduction, size_average, reduce))


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None,
                         reduction="mean"):
    """Cross entropy of probabilities of two classes."""
    tensors = (input, target, weight)
    if has_torch_function_variadic(*tensors):
        return _override(binary_cross_entropy, tensors, input, target, weight=weight,
                         size_average=size_average, reduce=reduce, reduction=reduction)
    number = _enum(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input "
                         f"size ({input.size()}) is deprecated. Please ensure they have "
                         "the same size.")
    if weight is not None:
        weight = weight.expand(torch.broadcast_shapes(weight.size(), target.size()))
    return _op.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None,
                                     reduction="mean", pos_weight=None):
    """Cross entropy of the sigmoid of the input, without overflow."""
    tensors = (input, target, weight, pos_weight)
    if has_torch_function_variadic(*tensors):
        return _override(binary_cross_entropy_with_logits, tensors, input, target, weight=weight,
                         size_average=size_average, reduce=reduce, reduction=reduction,
                         pos_weight=pos_weight)
    number = _enum(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size "
                         f"({input.size()})")
    return _op.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
             reduction="mean"):
    """Negative log likelihood of the target classes, from log-probabilities (N, C, ...)."""
    tensors = (input, target, weight)
    if has_torch_function_variadic(*tensors):
        return _override(nll_loss, tensors, input, target, weight=weight, size_average=size_average,
                         ignore_index=ignore_index, reduce=reduce, reduction=reduction)
    return _op.nll_loss_nd(input, target, weight, _enum(reduction, size_average, reduce),
                           ignore_index)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):
    """Cross entropy of logits (N, C, ...) and class numbers or class probabilities."""
    tensors = (input, target, weight)
    if has_torch_function_variadic(*tensors):
        return _override(cross_entropy, tensors, input, target, weight=weight,
                         size_average=size_average, ignore_index=ignore_index, reduce=reduce,
                         reduction=reduction, label_smoothing=label_smoothing)
    return _op.cross_entropy_loss(input, target, weight, _enum(reduction, size_average, reduce),
                                  ignore_index, label_smoothing)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Kullback-Leibler divergence from log-probabilities `input`."""
    if has_torch_function_variadic(input, target):
        return _override(kl_div, (input, target), input, target, size_average=size_average,
                         reduce=reduce, reduction=reduction, log_target=log_target)
    if size_average is not None or reduce is not None:
        number = _Reduction.legacy_get_enum(size_average, reduce)
    elif reduction == "batchmean":
        number = 2
    else:
        if reduction == "mean":
            _warn("reduction: 'mean' divides the total loss by both the batch size and the support "
                  "size.'batchmean' divides only by the batch size, and aligns with the KL div "
                  "math definition.'mean' will be changed to behave the same as 'batchmean' in the "
                  "next major release.")
        number = _Reduction.get_enum(reduction)
    result = _op.kl_div(input, target, number, log_target=log_target)
    if reduction == "batchmean" and input.dim() != 0:
        result = result / input.size(0)
    return result


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-08,
                     reduce=None, reduction="mean"):
    """Negative log likelihood of Poisson counts; `full` adds Stirling's term."""
    if has_torch_function_variadic(input, target):
        return _override(poisson_nll_loss, (input, target), input, target, log_input=log_input,
                         full=full, size_average=size_average, eps=eps, reduce=reduce,
                         reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _op.poisson_nll_loss(input, target, log_input, full, eps,
                                _Reduction.get_enum(reduction))


def _variance_like(input, var):
    """`var` shaped to broadcast against `input`: one a sample means one a vector."""
    if var.size() == input.size():
        return var
    if input.size()[:-1] == var.size():
        return torch.unsqueeze(var, -1)
    if input.ndim == var.ndim:
        if [y for x, y in zip(input.size(), var.size()) if x != y] == [1]:
            return var
    raise ValueError("var is of incorrect size")


def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean"):
    """Negative log likelihood of normal targets with mean `input` and variance `var`."""
    if has_torch_function_variadic(input, target, var):
        return _override(gaussian_nll_loss, (input, target, var), input, target, var, full=full,
                         eps=eps, reduction=reduction)
    if isinstance(var, (int, float)) or not isinstance(var, torch.Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * torch.ones_like(input)
    elif torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    var = _variance_like(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        import math

        loss = loss + 0.5 * math.log(2 * math.pi)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None,
                         reduction="mean"):
    """Distances for target 1, max(0, margin - distance) for target -1."""
    if has_torch_function_variadic(input, target):
        return _override(hinge_embedding_loss, (input, target), input, target, margin=margin,
                         size_average=size_average, reduce=reduce, reduction=reduction)
    return _op.hinge_embedding_loss(input, target, margin, _enum(reduction, size_average, reduce))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None,
                        reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)."""
    tensors = (input1, input2, target)
    if has_torch_function_variadic(*tensors):
        return _override(margin_ranking_loss, tensors, input1, input2, target, margin=margin,
                         size_average=size_average, reduce=reduce, reduction=reduction)
    number = _enum(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but "
                           f"got sizes: input1: {input1.size()}, input2: {input2.size()}, "
                           f"target: {target.size()} ")
    return _op.margin_ranking_loss(input1, input2, target, margin, number)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None,
                          reduction="mean"):
    """1 - cos for target 1, max(0, cos - margin) for target -1."""
    tensors = (input1, input2, target)
    if has_torch_function_variadic(*tensors):
        return _override(cosine_embedding_loss, tensors, input1, input2, target, margin=margin,
                         size_average=size_average, reduce=reduce, reduction=reduction)
    return _op.cosine_embedding_loss(input1, input2, target, margin,
                                     _enum(reduction, size_average, reduce))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss of several labels; a row of targets ends at the first -1."""
    if has_torch_function_variadic(input, target):
        return _override(multilabel_margin_loss, (input, target), input, target,
                         size_average=size_average, reduce=reduce, reduction=reduction)
    return _op.multilabel_margin_loss(input, target, _enum(reduction, size_average, reduce))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None,
                                reduction="mean"):
    """Mean over the last dimension of the cross entropies of independent labels."""
    tensors = (input, target, weight)
    if has_torch_function_variadic(*tensors):
        return _override(multilabel_soft_margin_loss, tensors, input, target, weight=weight,
                         size_average=size_average, reduce=reduce, reduction=reduction)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    log_sigmoid = _op.logsigmoid
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    last = input.dim() - 1
    loss = loss.sum(dim=last) / input.size(last)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None,
                      reduction="mean"):
    """Hinge loss of one class against the others, to the power `p`."""
    tensors = (input, target, weight)
    if has_torch_function_variadic(*tensors):
        return _override(multi_margin_loss, tensors, input, target, p=p, margin=margin,
                         weight=weight, size_average=size_average, reduce=reduce,
                         reduction=reduction)
    number = _enum(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _op.multi_margin_loss(input, target, p, margin, weight, number)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False,
                        size_average=None, reduce=None, reduction="mean"):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with p-norm distances."""
    tensors = (anchor, positive, negative)
    if has_torch_function_variadic(*tensors):
        return _override(triplet_margin_loss, tensors, anchor, positive, negative, margin=margin,
                         p=p, eps=eps, swap=swap, size_average=size_average, reduce=reduce,
                         reduction=reduction)
    number = _enum(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _op.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None,
                                      margin=1.0, swap=False, reduction="mean"):
    """Triplet loss with a distance of the caller's; Euclidean when None."""
    tensors = (anchor, positive, negative)
    if has_torch_function_variadic(*tensors):
        return _override(triplet_margin_with_distance_loss, tensors, anchor, positive, negative,
                         distance_function=distance_function, margin=margin, swap=swap,
                         reduction=reduction)
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs")
    distance = _op.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    loss = torch.clamp_min(margin + near - far, 0)
    if reduction == "sum":
        return torch.sum(loss)
    return torch.mean(loss) if reduction == "mean" else loss


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean",
             zero_infinity=False):
    """Connectionist temporal classification loss (Graves et al. 2006)."""
    tensors = (log_probs, targets, input_lengths, target_lengths)
    if has_torch_function_variadic(*tensors):
        return _override(ctc_loss, tensors, log_probs, targets, input_lengths, target_lengths,
                         blank=blank, reduction=reduction, zero_infinity=zero_infinity)
    return _op.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank,
                        _Reduction.get_enum(reduction), zero_infinity)


def _check_linear_cross_entropy(input, linear_weight, target, linear_bias, ignore_index):
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError("expected linear_weight with dimensionality at least 2, got "
                           f"{linear_weight.dim()}")
    if input.size(-1) != linear_weight.size(-1):
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), "
                           f"got {input.size(-1)} and {linear_weight.size(-1)}, respectively")
    if linear_weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} "
            f"requires batched input, (N, {input.size(-1)}), got unbatched input with shape "
            f"{tuple(input.shape)}")
    if linear_bias is not None and linear_bias.shape != linear_weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(linear_weight.shape[:-1])}, got "
                           f"{tuple(linear_bias.shape)}")
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None,
                         reduction="mean", ignore_index=None, label_smoothing=0.0, options=None):
    """cross_entropy(linear(input, linear_weight, linear_bias), target)."""
    tensors = (input, linear_weight, target, linear_bias, weight)
    if has_torch_function_variadic(*tensors):
        return _override(linear_cross_entropy, tensors, input, linear_weight, target,
                         linear_bias=linear_bias, weight=weight, reduction=reduction,
                         ignore_index=ignore_index, label_smoothing=label_smoothing,
                         options=options)
    _check_linear_cross_entropy(input, linear_weight, target, linear_bias, ignore_index)
    features = linear_weight.size(-1)
    flat = None if linear_bias is None else linear_bias.reshape(-1)
    logits = _op.linear(input, linear_weight.reshape(-1, features), flat)
    if linear_weight.dim() > 2:
        logits = logits.reshape(input.shape[:-1] + linear_weight.shape[:-1])
    return cross_entropy(logits, target, weight=weight, reduction=reduction,
                         ignore_index=-100 if ignore_index is None else ignore_index,
                         label_smoothing=label_smoothing)


