"""`vmap` under the path of PyTorch's module."""

from torch.func import vmap  # noqa: F401
