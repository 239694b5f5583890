"""Fused modules in floating point: they run their parts one after the other."""

import torch.nn as nn

__all__ = ["ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearReLU", "ConvBn1d", "ConvBn2d",
           "ConvBnReLU1d", "ConvBnReLU2d", "ConvBn3d", "ConvBnReLU3d", "BNReLU2d", "BNReLU3d",
           "LinearBn1d", "LinearLeakyReLU", "LinearTanh", "ConvAdd2d", "ConvAddReLU2d"]


class _FusedModule(nn.Sequential):
    """The base of all: a Sequential of fixed types (`_parts`)."""

    _parts: tuple = ()

    def __init__(self, *modules):
        if len(modules) != len(self._parts):
            raise TypeError(f"{type(self).__name__} takes {len(self._parts)} modules but "
                            f"{len(modules)} were given")
        kinds = [nn.utils.parametrize.type_before_parametrizations(m)
                 if nn.utils.parametrize.is_parametrized(m) else type(m) for m in modules]
        if any(kind is not part for kind, part in zip(kinds, self._parts)):
            names = [k.__name__ for k in kinds]
            given = ", ".join(names[:-1]) + " and " + names[-1]
            raise AssertionError(f"Incorrect types for input modules: {given}")
        super().__init__(*modules)


def _fused(name, *parts):
    text = "Runs " + ", then ".join(p.__name__ for p in parts) + "."
    return type(name, (_FusedModule,), {"_parts": parts, "__module__": __name__, "__doc__": text})


ConvReLU1d = _fused("ConvReLU1d", nn.Conv1d, nn.ReLU)
ConvReLU2d = _fused("ConvReLU2d", nn.Conv2d, nn.ReLU)
ConvReLU3d = _fused("ConvReLU3d", nn.Conv3d, nn.ReLU)
LinearReLU = _fused("LinearReLU", nn.Linear, nn.ReLU)
ConvBn1d = _fused("ConvBn1d", nn.Conv1d, nn.BatchNorm1d)
ConvBn2d = _fused("ConvBn2d", nn.Conv2d, nn.BatchNorm2d)
ConvBn3d = _fused("ConvBn3d", nn.Conv3d, nn.BatchNorm3d)
ConvBnReLU1d = _fused("ConvBnReLU1d", nn.Conv1d, nn.BatchNorm1d, nn.ReLU)
ConvBnReLU2d = _fused("ConvBnReLU2d", nn.Conv2d, nn.BatchNorm2d, nn.ReLU)
ConvBnReLU3d = _fused("ConvBnReLU3d", nn.Conv3d, nn.BatchNorm3d, nn.ReLU)
BNReLU2d = _fused("BNReLU2d", nn.BatchNorm2d, nn.ReLU)
BNReLU3d = _fused("BNReLU3d", nn.BatchNorm3d, nn.ReLU)
LinearBn1d = _fused("LinearBn1d", nn.Linear, nn.BatchNorm1d)
LinearLeakyReLU = _fused("LinearLeakyReLU", nn.Linear, nn.LeakyReLU)
LinearTanh = _fused("LinearTanh", nn.Linear, nn.Tanh)


class ConvAdd2d(_FusedModule):
    """A convolution and an addition: called with two inputs."""

    def __init__(self, conv, add):
        nn.Sequential.__init__(self, conv)
        self.add = add

    def forward(self, x1, x2):
        return self.add(self[0](x1), x2)


class ConvAddReLU2d(_FusedModule):
    """A convolution, an addition and ReLU: called with two inputs."""

    def __init__(self, conv, add, relu):
        nn.Sequential.__init__(self, conv)
        self.add = add
        self.relu = relu

    def forward(self, x1, x2):
        return self.relu(self.add(self[0](x1), x2))
