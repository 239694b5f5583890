"""Names of torch.export under the path of their module."""

from torch.export import CustomDecompTable  # noqa: F401
