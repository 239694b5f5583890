"""Rounding to the numbers that a quantized tensor could hold, in float; gradients pass inside."""

import torch

__all__ = ["fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine"]


class _FakeQuantize(torch.autograd.Function):
    """(clamp(round(x / scale) + zero) - zero) * scale; straight through where nothing was clamped.

    B. Jacob et al., "Quantization and training of neural networks" (2018).
    """

    @staticmethod
    def forward(ctx, x, scale, zero_point, quant_min, quant_max):
        steps = torch.round(x * (1 / scale)) + zero_point
        ctx.save_for_backward((steps >= quant_min) & (steps <= quant_max))
        return ((steps.clamp(quant_min, quant_max) - zero_point) * scale).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        inside, = ctx.saved_tensors
        return grad * inside, None, None, None, None


def _check(input, quant_min, quant_max):
    if not input.is_floating_point():
        name = input.type().split(".")[-1].replace("Tensor", "")
        raise NotImplementedError('"fake_quantize_tensor_cachemask_kernel_type_handling" not '
                                  f"implemented for '{name}'")
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")


def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """`input` rounded to multiples of `scale` between two steps counted from `zero_point`.

    `scale` and `zero_point` are numbers or one-element tensors. RuntimeError for bounds in the
    wrong order or a `zero_point` outside them.
    """
    _check(input, quant_min, quant_max)
    if not quant_min <= int(zero_point) <= quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    return _FakeQuantize.apply(input, float(scale), int(zero_point), quant_min, quant_max)


def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """As `fake_quantize_per_tensor_affine`, with a scale and zero point per index of `axis`."""
    _check(input, quant_min, quant_max)
    if scale.numel() != input.size(axis) or zero_point.numel() != input.size(axis):
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input "
                           "tensor")
    if bool(((zero_point < quant_min) | (zero_point > quant_max)).any()):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    shape = [-1 if d == axis % input.dim() else 1 for d in range(input.dim())]
    return _FakeQuantize.apply(input, scale.reshape(shape), zero_point.reshape(shape), quant_min,
                               quant_max)
