"""Marks in a model where values become quantised and back. Before `convert` they do nothing."""

import torch

__all__ = ["QuantStub", "DeQuantStub", "QuantWrapper"]


class QuantStub(torch.nn.Module):
    """Here values will be quantised; until then it returns its input."""

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    """Here values will be turned back to floating point."""


class QuantWrapper(torch.nn.Module):
    """A module between a `QuantStub` and a `DeQuantStub`."""

    quant: QuantStub
    dequant: DeQuantStub
    module: torch.nn.Module

    def __init__(self, module):
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X):
        return self.dequant(self.module(self.quant(X)))
