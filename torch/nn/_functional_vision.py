"""Images in `torch.nn.functional`: resampling, padding, sampling by grids, sliding blocks."""

import math

import torch
from torch.nn.functional import (
    GRID_SAMPLE_INTERPOLATION_MODES, GRID_SAMPLE_PADDING_MODES, _op, _override, _warn,
    has_torch_function_unary, has_torch_function_variadic,
)

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_LINEAR_MODES = ("linear", "bilinear", "trilinear", "bicubic")
_MODE_DIMS = {"linear": 3, "bilinear": 4, "trilinear": 5}


# ---- interpolation -------------------------------------------------------------------------------

def _checked_size(input, size):
    spatial = input.dim() - 2
    if not isinstance(size, (list, tuple)):
        return [size] * spatial
    if len(size) != spatial:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(input.shape[2:])} and output size of {size}. Please "
            "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in "
            "(o1, o2, ...,oK) format.")
    if not all(isinstance(n, (int, torch.Tensor)) or hasattr(n, "__index__") for n in size):
        raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                        "Tuple[int, int, int], but got size with types "
                        f"{[type(n) for n in size]}")
    return list(size)


def _checked_scales(input, scale_factor):
    spatial = input.dim() - 2
    if not isinstance(scale_factor, (list, tuple)):
        return [scale_factor] * spatial
    if len(scale_factor) != spatial:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format.")
    return list(scale_factor)


def _size_and_scales(input, size, scale_factor, mode, recompute_scale_factor):
    """The output size (None: from the scales) and the scales (None: from the sizes)."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = None
    if size is not None:
        size = _checked_size(input, size)
    else:
        scales = _checked_scales(input, scale_factor)
    if recompute_scale_factor is True and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if scales is not None and (recompute_scale_factor or mode == "area"):
        size = [math.floor(float(n) * s) for n, s in zip(input.shape[2:], scales)]
        scales = None
    return size, scales


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None,
                recompute_scale_factor=None, antialias=False):
    """Resamples the spatial dimensions of (N, C, ...) to `size` or by `scale_factor`."""
    if has_torch_function_unary(input):
        return _override(interpolate, (input,), input, size=size, scale_factor=scale_factor,
                         mode=mode, align_corners=align_corners,
                         recompute_scale_factor=recompute_scale_factor, antialias=antialias)
    if mode in ("nearest", "area", "nearest-exact", "lanczos"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: "
                             "linear | bilinear | bicubic | trilinear")
    elif align_corners is None:
        align_corners = False
    size, scales = _size_and_scales(input, size, scale_factor, mode, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes "
                         "and requires a 4-D tensor as input")
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    return _resample(input, size, scales, mode, align_corners, antialias)


def _resample(input, size, scales, mode, align_corners, antialias):
    ndim = input.dim()
    if 3 <= ndim <= 5:
        if mode in ("nearest", "nearest-exact"):
            prefix = "upsample_nearest" if mode == "nearest" else "_upsample_nearest_exact"
            return getattr(_op, f"{prefix}{ndim - 2}d")(input, size, scales)
        if mode == "area":
            return getattr(_op, f"adaptive_avg_pool{ndim - 2}d")(input, size)
        if mode in _MODE_DIMS and _MODE_DIMS[mode] != ndim:
            raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs "
                                      f"{_MODE_DIMS[mode]}D input")
        if mode == "linear":
            return _op.upsample_linear1d(input, size, align_corners, scales)
        if mode == "trilinear":
            return _op.upsample_trilinear3d(input, size, align_corners, scales)
        if ndim == 4 and mode in ("bilinear", "bicubic", "lanczos"):
            name = f"_upsample_{mode}2d_aa" if antialias else f"upsample_{mode}2d"
            corners = False if align_corners is None else align_corners
            return getattr(_op, name)(input, size, corners, scales)
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: "
        f"{_MODES} (got {mode})")


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The older name of `interpolate`."""
    _warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate(mode="nearest"), by an older name."""
    _warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` "
          "instead.")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate(mode="bilinear", align_corners=True), by an older name."""
    _warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` "
          "instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ---- grids ---------------------------------------------------------------------------------------

_CORNERS_WARNING = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details.")


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Values of `input` at the positions of `grid`, which run from -1 to 1 across the image."""
    if has_torch_function_variadic(input, grid):
        return _override(grid_sample, (input, grid), input, grid, mode=mode,
                         padding_mode=padding_mode, align_corners=align_corners)
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' "
                         f"or 'bicubic', but got: '{mode}'")
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
                         f"'border', or 'reflection', but got: '{padding_mode}'")
    if align_corners is None:
        _warn(_CORNERS_WARNING)
        align_corners = False
    return _op.grid_sampler(input, grid, GRID_SAMPLE_INTERPOLATION_MODES[mode],
                            GRID_SAMPLE_PADDING_MODES[padding_mode], align_corners)


def affine_grid(theta, size, align_corners=None):
    """The grid for `grid_sample` that applies the affine maps `theta`, (N, 2, 3) or (N, 3, 4)."""
    if has_torch_function_unary(theta):
        return _override(affine_grid, (theta,), theta, size, align_corners=align_corners)
    if align_corners is None:
        _warn(_CORNERS_WARNING)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
                                  f"transforms, respectively. Got size {size}.")
    d = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (d, d + 1):
        raise ValueError(f"Expected a batch of {d}D affine matrices of shape Nx{d}x{d + 1} for "
                         f"size {size}. Got {theta.shape}.")
    if align_corners and min(size[2:]) == 1:
        _warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
              "align_corners=True. This is not an intended use case of affine_grid. See the "
              "documentation of affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _op.affine_grid_generator(theta, size, align_corners)


# ---- padding and blocks --------------------------------------------------------------------------

def pad(input, pad, mode="constant", value=None):
    """Pads the last dimensions; `pad` counts from the last one, (before, after) for each."""
    if has_torch_function_unary(input):
        return _override(_pad, (input,), input, pad, mode=mode, value=value)
    return _op.pad(input, pad, mode, value)


_pad = pad


def assert_int_or_pair(arg, arg_name, message):
    """AssertionError unless `arg` is a number or has two entries."""
    assert isinstance(arg, int) or len(arg) == 2, message.format(arg_name)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Sliding blocks of (N, C, H, W) as columns: (N, C * block, blocks)."""
    if has_torch_function_unary(input):
        return _override(unfold, (input,), input, kernel_size, dilation=dilation, padding=padding,
                         stride=stride)
    from torch.nn.modules.utils import _pair

    return _op.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Sums columns of sliding blocks back into an image; the transpose of `unfold`."""
    if has_torch_function_unary(input):
        return _override(fold, (input,), input, output_size, kernel_size, dilation=dilation,
                         padding=padding, stride=stride)
    from torch.nn.modules.utils import _pair

    return _op.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation),
                      _pair(padding), _pair(stride))
