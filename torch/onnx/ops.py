"""ONNX operators in a model. Not written yet."""

from torch._missing import add_missing

__all__ = ["aten_decompositions", "symbolic", "symbolic_multi_out", "rotary_embedding",
           "attention"]

add_missing(globals(), "torch.onnx.ops",
            "symbolic symbolic_multi_out rotary_embedding attention aten_decompositions")
