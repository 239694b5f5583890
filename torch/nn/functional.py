"""Functions of neural networks: what Python users see of `torch.nn.functional`.

Operators live in the core; here are the arguments that only Python has (names of reductions,
`inplace` flags, older spellings). Functions that are pure operators are taken from the core when
they are first named (`__getattr__` at the end), as are the families in `_functional_*.py`.
"""

import torch
from torch import _C
from torch._C import (
    _has_torch_function as has_torch_function,
    _has_torch_function_unary as has_torch_function_unary,
    _has_torch_function_variadic as has_torch_function_variadic,
)
from torch.nn import _reduction as _Reduction

Tensor = torch.Tensor

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


class _Operators:
    """The core's operators by name; NotImplementedError for one that it does not have."""

    def __getattr__(self, name):
        found = getattr(_C._VariableFunctions, name, None) or getattr(_C._nn, name, None)
        if found is None:
            raise NotImplementedError(f"the operator {name!r} is not implemented")
        setattr(self, name, found)
        return found


_op = _Operators()


def _override(function, relevant, *args, **kwargs):
    from torch.overrides import handle_torch_function

    return handle_torch_function(function, relevant, *args, **kwargs)


def _warn(message, stacklevel=3):
    import warnings

    warnings.warn(message, stacklevel=stacklevel)


# ---- activations ---------------------------------------------------------------------------------

def relu(input, inplace=False):
    """max(x, 0) of each element; with `inplace` the input is overwritten."""
    if has_torch_function_unary(input):
        return _override(relu, (input,), input, inplace=inplace)
    return _op.relu_(input) if inplace else _op.relu(input)


def relu6(input, inplace=False):
    """min(max(x, 0), 6) of each element."""
    if has_torch_function_unary(input):
        return _override(relu6, (input,), input, inplace=inplace)
    return _op.relu6_(input) if inplace else _op.relu6(input)


def elu(input, alpha=1.0, inplace=False):
    """x where x > 0, alpha * (exp(x) - 1) elsewhere."""
    if has_torch_function_unary(input):
        return _override(elu, (input,), input, alpha=alpha, inplace=inplace)
    return _op.elu_(input, alpha) if inplace else _op.elu(input, alpha)


def selu(input, inplace=False):
    """Scaled ELU with the constants of self-normalising networks."""
    if has_torch_function_unary(input):
        return _override(selu, (input,), input, inplace=inplace)
    return _op.selu_(input) if inplace else _op.selu(input)


def celu(input, alpha=1.0, inplace=False):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    if has_torch_function_unary(input):
        return _override(celu, (input,), input, alpha=alpha, inplace=inplace)
    return _op.celu_(input, alpha) if inplace else _op.celu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where x > 0, negative_slope * x elsewhere."""
    if has_torch_function_unary(input):
        return _override(leaky_relu, (input,), input, negative_slope=negative_slope,
                         inplace=inplace)
    if inplace:
        return _op.leaky_relu_(input, negative_slope)
    return _op.leaky_relu(input, negative_slope)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """Leaky ReLU whose slope is drawn from [lower, upper] in training, their mean otherwise."""
    if has_torch_function_unary(input):
        return _override(rrelu, (input,), input, lower=lower, upper=upper, training=training,
                         inplace=inplace)
    return (_op.rrelu_ if inplace else _op.rrelu)(input, lower, upper, training)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]."""
    if has_torch_function_unary(input):
        return _override(hardtanh, (input,), input, min_val=min_val, max_val=max_val,
                         inplace=inplace)
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (_op.hardtanh_ if inplace else _op.hardtanh)(input, min_val, max_val)


def _threshold(input, threshold, value, inplace=False):
    """x where x > threshold, `value` elsewhere."""
    if has_torch_function_unary(input):
        return _override(_threshold, (input,), input, threshold, value, inplace=inplace)
    return (_op.threshold_ if inplace else _op.threshold)(input, threshold, value)


threshold = _threshold


def hardsigmoid(input, inplace=False):
    """relu6(x + 3) / 6."""
    if has_torch_function_unary(input):
        return _override(hardsigmoid, (input,), input, inplace=inplace)
    return _op.hardsigmoid_(input) if inplace else _op.hardsigmoid(input)


def hardswish(input, inplace=False):
    """x * relu6(x + 3) / 6."""
    if has_torch_function_unary(input):
        return _override(hardswish, (input,), input, inplace=inplace)
    return _op.hardswish_(input) if inplace else _op.hardswish(input)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    if has_torch_function_unary(input):
        return _override(silu, (input,), input, inplace=inplace)
    return _op.silu_(input) if inplace else _op.silu(input)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    if has_torch_function_unary(input):
        return _override(mish, (input,), input, inplace=inplace)
    return _op.mish_(input) if inplace else _op.mish(input)


def glu(input, dim=-1):
    """The first half along `dim` times the sigmoid of the second half."""
    if has_torch_function_unary(input):
        return _override(glu, (input,), input, dim=dim)
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _op.glu(input, dim)


def sigmoid(input):
    """1 / (1 + exp(-x)) of each element."""
    return input.sigmoid()


def tanh(input):
    """Hyperbolic tangent of each element."""
    return input.tanh()


def tanhshrink(input):
    """x - tanh(x)."""
    if has_torch_function_unary(input):
        return _override(tanhshrink, (input,), input)
    return input - input.tanh()


def softsign(input):
    """x / (1 + |x|)."""
    if has_torch_function_unary(input):
        return _override(softsign, (input,), input)
    return input / (input.abs() + 1)


def _get_softmax_dim(name, ndim, stacklevel):
    _warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to "
          "include dim=X as an argument.", stacklevel + 1)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum of exp(x) along `dim`; computed in `dtype` when given."""
    if has_torch_function_unary(input):
        return _override(softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim(), _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x)."""
    if has_torch_function_unary(input):
        return _override(softmin, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("softmin", input.dim(), _stacklevel)
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Logarithm of the softmax, without overflow."""
    if has_torch_function_unary(input):
        return _override(log_softmax, (input,), input, dim=dim, _stacklevel=_stacklevel,
                         dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("log_softmax", input.dim(), _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of the Gumbel-softmax distribution (Jang et al. 2017; Maddison et al. 2017).

    With `hard` the result is one-hot, and its gradient that of the soft sample.
    """
    if has_torch_function_unary(logits):
        return _override(gumbel_softmax, (logits,), logits, tau=tau, hard=hard, eps=eps, dim=dim)
    if eps != 1e-10:
        _warn("`eps` parameter is deprecated and has no effect.")
    noise = torch.empty_like(logits, memory_format=torch.legacy_contiguous_format)
    noise = -noise.exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    at = soft.max(dim, keepdim=True)[1]
    zeros = torch.zeros_like(logits, memory_format=torch.legacy_contiguous_format)
    return zeros.scatter_(dim, at, 1.0) - soft.detach() + soft


# ---- dropout -------------------------------------------------------------------------------------

def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with probability `p` and scales the others by 1 / (1 - p)."""
    if has_torch_function_unary(input):
        return _override(dropout, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    return (_op.dropout_ if inplace else _op.dropout)(input, p, training)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of inputs of SELU networks."""
    if has_torch_function_unary(input):
        return _override(alpha_dropout, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    return (_op.alpha_dropout_ if inplace else _op.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Alpha dropout of whole channels."""
    if has_torch_function_unary(input):
        return _override(feature_alpha_dropout, (input,), input, p=p, training=training,
                         inplace=inplace)
    _check_probability(p)
    call = _op.feature_alpha_dropout_ if inplace else _op.feature_alpha_dropout
    return call(input, p, training)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    if has_torch_function_unary(input):
        return _override(dropout1d, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    if ndim == 3:
        return (_op.feature_dropout_ if inplace else _op.feature_dropout)(input, p, training)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = (_op.feature_dropout_ if inplace else _op.feature_dropout)(batch, p, training)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def _warn_dropout_dims(name, spatial, ndim):
    _warn(f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an "
          "error in a future release. To retain the behavior and silence this warning, please use "
          f"dropout instead. Note that {name} exists to provide channel-wise dropout on inputs "
          f"with {spatial} spatial dimensions, a channel dimension, and an optional batch "
          f"dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs).", 4)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, H, W)."""
    if has_torch_function_unary(input):
        return _override(dropout2d, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    ndim = input.dim()
    if ndim == 3:
        _warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
              "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is "
              "the channel dim. This behavior will change in a future release to interpret the "
              "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
              "channel-wise dropout behavior, please switch to using dropout1d instead.")
    elif ndim != 4:
        _warn_dropout_dims("dropout2d", 2, ndim)
    return (_op.feature_dropout_ if inplace else _op.feature_dropout)(input, p, training)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    if has_torch_function_unary(input):
        return _override(dropout3d, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (4, 5):
        _warn_dropout_dims("dropout3d", 3, ndim)
    if ndim != 4:
        return (_op.feature_dropout_ if inplace else _op.feature_dropout)(input, p, training)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = (_op.feature_dropout_ if inplace else _op.feature_dropout)(batch, p, training)
    return result.squeeze_(0) if inplace else result.squeeze(0)


# ---- normalisation -------------------------------------------------------------------------------

def _verify_batch_size(size):
    count = size[0]
    for extent in size[2:]:
        count *= extent
    if count == 1:
        raise ValueError("Expected more than 1 value per channel when training, "
                         f"got input size {size}")


def _verify_spatial_size(size):
    count = 1
    for extent in size[2:]:
        count *= extent
    if count == 1:
        raise ValueError("Expected more than 1 spatial element when training, "
                         f"got input size {size}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False,
               momentum=0.1, eps=1e-05):
    """Normalises each channel over the batch, or by the running statistics."""
    tensors = (input, running_mean, running_var, weight, bias)
    if has_torch_function_variadic(*tensors):
        return _override(batch_norm, tensors, input, running_mean, running_var, weight=weight,
                         bias=bias, training=training, momentum=momentum, eps=eps)
    if training:
        _verify_batch_size(input.size())
    return _op.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps,
                          True)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None,
                  use_input_stats=True, momentum=0.1, eps=1e-05):
    """Normalises each channel of each sample by itself."""
    tensors = (input, running_mean, running_var, weight, bias)
    if has_torch_function_variadic(*tensors):
        return _override(instance_norm, tensors, input, running_mean=running_mean,
                         running_var=running_var, weight=weight, bias=bias,
                         use_input_stats=use_input_stats, momentum=momentum, eps=eps)
    if use_input_stats:
        _verify_spatial_size(input.size())
    return _op.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats,
                             momentum, eps, True)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalises over the last dimensions, those of `normalized_shape`."""
    if has_torch_function_variadic(input, weight, bias):
        return _override(layer_norm, (input, weight, bias), input, normalized_shape, weight=weight,
                         bias=bias, eps=eps)
    return _op.layer_norm(input, normalized_shape, weight, bias, eps, True)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divides by the root mean square over the last dimensions."""
    if has_torch_function_variadic(input, weight):
        return _override(rms_norm, (input, weight), input, normalized_shape, weight=weight, eps=eps)
    return _op.rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalises over groups of channels."""
    if has_torch_function_variadic(input, weight, bias):
        return _override(group_norm, (input, weight, bias), input, num_groups, weight=weight,
                         bias=bias, eps=eps)
    if input.dim() < 2:
        raise RuntimeError("Expected at least 2 dimensions for input tensor but received "
                           f"{input.dim()}")
    size = input.size()
    _verify_batch_size([size[0] * size[1] // num_groups, num_groups, *size[2:]])
    return _op.group_norm(input, num_groups, weight, bias, eps, True)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """x / max(norm(x, p), eps), the norm taken along `dim`."""
    if has_torch_function_variadic(input, out):
        return _override(normalize, (input, out), input, p=p, dim=dim, eps=eps, out=out)
    if out is None:
        return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return torch.div(input, input.norm(p, dim, keepdim=True).clamp_min_(eps).expand_as(input),
                     out=out)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divides by a power of the mean square over `size` neighbouring channels."""
    if has_torch_function_unary(input):
        return _override(local_response_norm, (input,), input, size, alpha=alpha, beta=beta, k=k)
    ndim = input.dim()
    if ndim < 3:
        raise ValueError("Expected 3D or higher dimensionality                          "
                         f"input (got {ndim} dimensions)")
    if input.numel() == 0:
        return input
    square = input * input
    before, after = size // 2, (size - 1) // 2
    square = _op.constant_pad_nd(square, [0, 0] * (ndim - 2) + [before, after], 0.0)
    windows = square.unfold(1, size, 1)
    if input.is_floating_point() or input.is_complex():
        mean = windows.mean(-1)
    else:
        mean = windows.sum(-1).div(size, rounding_mode="trunc")
    return input / (mean * alpha + k).pow(beta)


# ---- embedding -----------------------------------------------------------------------------------

def _no_grad_embedding_renorm_(weight, input, max_norm, norm_type):
    _op.embedding_renorm_(weight.detach(), input, max_norm, norm_type)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0,
              scale_grad_by_freq=False, sparse=False):
    """Rows of `weight` at the positions in `input`."""
    if has_torch_function_variadic(input, weight):
        return _override(embedding, (input, weight), input, weight, padding_idx=padding_idx,
                         max_norm=max_norm, norm_type=norm_type,
                         scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
        if padding_idx < 0:
            padding_idx += rows
    if max_norm is not None:
        input = input.contiguous()
        _no_grad_embedding_renorm_(weight, input, max_norm, norm_type)
    return _op.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _bag_offsets(input, offsets, per_sample_weights):
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}")
        offsets = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype,
                               device=input.device)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
        return input.reshape(-1), offsets, per_sample_weights
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension "
                         f"{input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, per_sample_weights


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False,
                  mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False,
                  padding_idx=None):
    """Sums, means or maxima of bags of rows of `weight`."""
    tensors = (input, weight, offsets, per_sample_weights)
    if has_torch_function_variadic(*tensors):
        return _override(embedding_bag, tensors, input, weight, offsets=offsets, max_norm=max_norm,
                         norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, mode=mode,
                         sparse=sparse, per_sample_weights=per_sample_weights,
                         include_last_offset=include_last_offset, padding_idx=padding_idx)
    if weight.dtype == torch.long and input.is_floating_point():
        _warn("Argument order of nn.functional.embedding_bag was changed. Usage "
              "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
              "`embedding_bag(input, weight, ...)`.")
        input, weight = weight, input
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is "
                         f"not None, then it must have the same shape as the input ({input.shape})")
    input, offsets, per_sample_weights = _bag_offsets(input, offsets, per_sample_weights)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        _no_grad_embedding_renorm_(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}').")
    return _op.embedding_bag(weight, input, offsets, scale_grad_by_freq,
                             ("sum", "mean", "max").index(mode), sparse, per_sample_weights,
                             include_last_offset, padding_idx)[0]


# ---- names that live elsewhere -------------------------------------------------------------------

_OPERATORS = frozenset(
    """adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear celu_ channel_shuffle conv1d
    conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_
    gelu hardshrink hardtanh_ leaky_relu_ linear logsigmoid native_channel_shuffle one_hot
    pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rrelu_
    scaled_dot_product_attention selu_ softplus softshrink threshold_""".split()
)

_FAMILIES = {
    "loss": "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss "
    "cross_entropy ctc_loss gaussian_nll_loss hinge_embedding_loss huber_loss kl_div l1_loss "
    "linear_cross_entropy margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss "
    "multilabel_soft_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss "
    "triplet_margin_loss triplet_margin_with_distance_loss",
    "pool": "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
    "adaptive_max_pool1d_with_indices _adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool2d_with_indices _adaptive_max_pool2d adaptive_max_pool3d "
    "adaptive_max_pool3d_with_indices _adaptive_max_pool3d fractional_max_pool2d "
    "fractional_max_pool2d_with_indices _fractional_max_pool2d fractional_max_pool3d "
    "fractional_max_pool3d_with_indices _fractional_max_pool3d lp_pool1d lp_pool2d lp_pool3d "
    "max_pool1d max_pool1d_with_indices _max_pool1d max_pool2d max_pool2d_with_indices _max_pool2d "
    "max_pool3d max_pool3d_with_indices _max_pool3d max_unpool1d max_unpool2d max_unpool3d "
    "_unpool_output_size _list_with_default boolean_dispatch",
    "vision": "affine_grid assert_int_or_pair fold grid_sample interpolate pad unfold upsample "
    "upsample_bilinear upsample_nearest",
    "attention": "multi_head_attention_forward _canonical_mask _none_or_dtype _in_projection "
    "_in_projection_packed _mha_shape_check _check_key_padding_mask",
    "scaled": "ScalingType SwizzleType grouped_mm scaled_addmm scaled_addmm_ scaled_grouped_mm "
    "scaled_mm",
}
_HOME = {_name: _family for _family, _names in _FAMILIES.items() for _name in _names.split()}
del _FAMILIES


def _absent(name):
    def function(*args, **kwargs):
        raise NotImplementedError(f"torch.nn.functional.{name} is not implemented")

    function.__name__ = function.__qualname__ = name
    return function


def _load_family(family):
    from importlib import import_module

    module = import_module("torch.nn._functional_" + family)
    here = globals()
    for name, home in _HOME.items():
        if home == family:
            here[name] = value = getattr(module, name)
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__:
                value.__module__ = __name__


def __getattr__(name):
    if name in _HOME:
        _load_family(_HOME[name])
        return globals()[name]
    if name in _OPERATORS:
        try:
            value = getattr(_op, name)
        except NotImplementedError:
            return _absent(name)
    elif name == "__all__":
        return [n for n in __dir__() if not n.startswith("_") and n not in ("torch", "Tensor")]
    elif name == "handle_torch_function":
        from torch.overrides import handle_torch_function as value
    elif name in ("grad", "math", "warnings", "importlib"):
        from importlib import import_module

        value = import_module("torch.nn.grad" if name == "grad" else name)
    elif name in ("_single", "_pair", "_triple"):
        from torch.nn.modules import utils

        value = getattr(utils, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME, *_OPERATORS})


from torch._lazy_module import complete_dict as _complete_dict  # noqa: E402

_complete_dict(__name__)
