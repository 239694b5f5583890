"""Arithmetic as modules, so that an observer can see the result of each operation."""

import torch
from torch._missing import missing_class

__all__ = ["FloatFunctional", "FXFloatFunctional", "QFunctional"]

QFunctional = missing_class("torch.ao.nn.quantized.QFunctional")


class FXFloatFunctional(torch.nn.Module):
    """`add`, `mul` and so on as methods; in floating point just the operations."""

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the "
                           "underlying operation")

    def _seen(self, result):
        return result

    def add(self, x, y):
        return self._seen(torch.add(x, y))

    def add_scalar(self, x, y):
        """Adds a number; not observed."""
        return torch.add(x, y)

    def mul(self, x, y):
        return self._seen(torch.mul(x, y))

    def mul_scalar(self, x, y):
        """Multiplies by a number; not observed."""
        return torch.mul(x, y)

    def cat(self, x, dim=0):
        return self._seen(torch.cat(x, dim=dim))

    def add_relu(self, x, y):
        return self._seen(torch.nn.functional.relu(torch.add(x, y)))

    def matmul(self, x, y):
        return self._seen(torch.matmul(x, y))


class FloatFunctional(FXFloatFunctional):
    """`FXFloatFunctional` whose results pass through ``activation_post_process``."""

    def __init__(self):
        super().__init__()
        self.activation_post_process = torch.nn.Identity()

    def _seen(self, result):
        return self.activation_post_process(result)
