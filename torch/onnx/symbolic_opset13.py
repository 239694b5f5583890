"""Rules of the older exporter for opset 13, by name; calling one raises."""

from torch.onnx._rules import rule_of

__getattr__ = rule_of(__name__)
