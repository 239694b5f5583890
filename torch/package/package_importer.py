"""Names of torch.package under the path of their module."""

from torch.package import PackageImporter  # noqa: F401
