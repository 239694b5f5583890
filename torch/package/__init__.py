"""torch.package: errors and patterns of names. Packages cannot be written or read yet."""

from torch._missing import missing_class
from torch.package.glob_group import GlobGroup  # noqa: F401
from torch.package.importer import (  # noqa: F401
    Importer,
    ObjMismatchError,
    ObjNotFoundError,
    OrderedImporter,
    sys_importer,
)

__all__ = ["Directory", "EmptyMatchError", "GlobGroup", "Importer", "ObjMismatchError",
           "ObjNotFoundError", "OrderedImporter", "PackageExporter", "PackageImporter",
           "PackagingError", "is_from_package", "sys_importer"]

Directory = missing_class("torch.package.Directory")
PackageExporter = missing_class("torch.package.PackageExporter")
PackageImporter = missing_class("torch.package.PackageImporter")


class EmptyMatchError(Exception):
    """A pattern of modules matched nothing."""


class PackagingError(Exception):
    """A package cannot be written."""


def is_from_package(obj):
    """Does an object come out of a package? Names of their modules begin with ``<torch_package_``.
    """
    name = obj.__name__ if hasattr(obj, "__file__") else type(obj).__module__
    return str(name).startswith("<torch_package_")


def __getattr__(name):
    if name in ("package_exporter", "package_importer", "analyze", "file_structure_representation",
                "find_file_dependencies"):
        from importlib import import_module

        return import_module("torch.package." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
