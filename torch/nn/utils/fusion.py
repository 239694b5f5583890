"""Batch normalization folded into the layer before it."""
from __future__ import annotations

import copy

import torch

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
           "fuse_linear_bn_weights"]


def _check_eval(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of `conv` that computes ``bn(conv(x))``; both in evaluation mode.

    `transpose` tells that `conv` is a transposed convolution.
    """
    _check_eval(conv, bn)
    fused = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight,
        bn.bias, transpose)
    return fused


def _fold(weight, bias, mean, var, eps, bn_weight, bn_bias, shape):
    """(weight, bias) of a layer that also normalizes; computed in the statistics' dtype."""
    weight_dtype = weight.dtype
    bias_dtype = bias.dtype if bias is not None else weight_dtype
    if bias is None:
        bias = torch.zeros_like(mean)
    if bn_weight is None:
        bn_weight = torch.ones_like(mean)
    if bn_bias is None:
        bn_bias = torch.zeros_like(mean)
    scale = bn_weight * torch.rsqrt(var + eps)
    new_weight = (weight * scale.reshape(shape)).to(dtype=weight_dtype)
    new_bias = ((bias - mean) * scale + bn_bias).to(dtype=bias_dtype)
    return new_weight, new_bias


def _as_parameters(old_weight, old_bias, weight, bias):
    needs_grad = old_bias.requires_grad if old_bias is not None else old_weight.requires_grad
    return (torch.nn.Parameter(weight, old_weight.requires_grad),
            torch.nn.Parameter(bias, needs_grad))


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of the convolution that includes the batch norm."""
    ones = [1] * (conv_w.dim() - 2)
    shape = [1, -1, *ones] if transpose else [-1, 1, *ones]
    weight, bias = _fold(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)
    return _as_parameters(conv_w, conv_b, weight, bias)


def fuse_linear_bn_eval(linear, bn):
    """A copy of `linear` that computes ``bn(linear(x))``; both in evaluation mode."""
    _check_eval(linear, bn)
    fused = copy.deepcopy(linear)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and "
            f"bn.num_features={bn.num_features}")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight,
        bn.bias)
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of the Linear that includes the batch norm."""
    weight, bias = _fold(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])
    return _as_parameters(linear_w, linear_b, weight, bias)
