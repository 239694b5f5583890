"""`fork` and `wait`, under the name of their module."""

from torch.jit import fork, wait  # noqa: F401
