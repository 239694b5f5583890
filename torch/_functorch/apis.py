"""`vmap`, `grad` and `grad_and_value` under the path of PyTorch's module."""

from torch.func import grad, grad_and_value, vmap  # noqa: F401
