"""Names of torch.package under the path of their module."""

from torch.package import EmptyMatchError, PackageExporter, PackagingError  # noqa: F401
