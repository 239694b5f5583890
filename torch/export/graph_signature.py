"""Names of torch.export under the path of their module."""

from torch.export import ExportBackwardSignature, ExportGraphSignature  # noqa: F401
