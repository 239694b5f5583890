"""`ShapeProp`: runs a graph on real inputs and notes dtype, shape and strides at each node."""

from typing import NamedTuple, Optional

import torch
import torch.fx
from torch.fx._compatibility import compatibility
from torch.fx.node import map_aggregate

__all__ = ["TensorMetadata", "ShapeProp"]


@compatibility(is_backward_compatible=True)
class TensorMetadata(NamedTuple):
    """What a tensor is like, without its numbers."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple
    memory_format: Optional[torch.memory_format]
    is_quantized: bool
    qparams: dict


_FORMATS = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)
_RANKS = {torch.channels_last: 4, torch.channels_last_3d: 5}


def _extract_tensor_metadata(result, include_contiguity=True):
    """The `TensorMetadata` of a tensor."""
    layout = None
    if include_contiguity:
        layout = next((f for f in _FORMATS if _RANKS.get(f, result.dim()) == result.dim()
                       and result.is_contiguous(memory_format=f)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(),
                          layout, False, {})


@compatibility(is_backward_compatible=True)
class ShapeProp(torch.fx.Interpreter):
    """Interprets a GraphModule; every node gets ``meta["tensor_meta"]`` (a `TensorMetadata`, or
    containers of them) and ``meta["type"]``."""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp with a fake_mode is not implemented")

    def run_node(self, n):
        try:
            result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with "
                               f"meta={n.meta}") from error
        found = False

        def extract(obj):
            nonlocal found
            if isinstance(obj, torch.Tensor):
                found = True
                return _extract_tensor_metadata(obj)
            return obj

        meta = map_aggregate(result, extract)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """Runs the module on `args`; returns its result."""
        return super().run(*args)
