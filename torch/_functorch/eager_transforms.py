"""Transformations of torch.func under the path of PyTorch's module."""

from torch.func import (  # noqa: F401
    functionalize,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
