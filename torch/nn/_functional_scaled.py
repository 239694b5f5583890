"""Grouped products, and products of tensors scaled by blocks."""

from enum import Enum

import torch

from torch._grouped import grouped_mm  # noqa: F401
from torch.nn.functional import _op


class ScalingType(Enum):
    """How the scales of a scaled product are spread over the operand."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(Enum):
    """How the scales of a scaled product lie in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1
    SWIZZLE_32_8 = 2


def _listed(value):
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def _numbers(value):
    return [v.value for v in _listed(value)]


def scaled_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a=None,
              swizzle_b=None, bias=None, output_dtype=torch.bfloat16, contraction_dim=(),
              use_fast_accum=False):
    """The product of two scaled matrices."""
    return _op._scaled_mm_v2(mat_a, mat_b, _listed(scale_a), _numbers(scale_recipe_a),
                             _numbers(swizzle_a), _listed(scale_b), _numbers(scale_recipe_b),
                             _numbers(swizzle_b), bias, output_dtype, contraction_dim,
                             use_fast_accum)


def scaled_grouped_mm(mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b,
                      swizzle_a=None, swizzle_b=None, bias=None, offs=None,
                      output_dtype=torch.bfloat16, contraction_dim=(), use_fast_accum=False):
    """Products of groups of scaled matrices."""
    return _op._scaled_grouped_mm_v2(
        mat_a, mat_b, _listed(scale_a), _numbers(scale_recipe_a), _numbers(swizzle_a),
        _listed(scale_b), _numbers(scale_recipe_b), _numbers(swizzle_b), offs, bias, output_dtype,
        contraction_dim, use_fast_accum)


def scaled_addmm(input, mat1, mat2, scale_a, scale_recipe_a, scale_b, scale_recipe_b,
                 swizzle_a=None, swizzle_b=None, contraction_dim=(), use_fast_accum=False, *,
                 beta=1.0, alpha=1.0):
    """beta * input + alpha * the product of two scaled matrices."""
    product = scaled_mm(mat1, mat2, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a,
                        swizzle_b, None, input.dtype, contraction_dim, use_fast_accum)
    return beta * input + alpha * product


def scaled_addmm_(input, mat1, mat2, scale_a, scale_recipe_a, scale_b, scale_recipe_b,
                  swizzle_a=None, swizzle_b=None, contraction_dim=(), use_fast_accum=False, *,
                  beta=1.0, alpha=1.0):
    """`scaled_addmm` into `input`."""
    return input.copy_(scaled_addmm(
        input, mat1, mat2, scale_a, scale_recipe_a, scale_b, scale_recipe_b, swizzle_a, swizzle_b,
        contraction_dim, use_fast_accum, beta=beta, alpha=alpha))
