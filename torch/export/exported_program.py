"""Names of torch.export under the path of their module."""

from torch.export import ExportedProgram, ModuleCallEntry, ModuleCallSignature  # noqa: F401
