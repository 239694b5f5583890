"""Importers: from names to modules and objects, and back."""

import importlib
import pickle
from abc import ABC, abstractmethod

__all__ = ["ObjNotFoundError", "ObjMismatchError", "Importer", "OrderedImporter"]


class ObjNotFoundError(Exception):
    """No object of that name."""


class ObjMismatchError(Exception):
    """The name leads to another object."""


class Importer(ABC):
    """Imports modules from one environment."""

    modules: dict

    @abstractmethod
    def import_module(self, module_name):
        """The module of that name."""

    def whichmodule(self, obj, name):
        """The name of the module that `obj` is from."""
        return pickle.whichmodule(obj, name)

    def get_name(self, obj, name=None):
        """(module, name) from which `obj` can be imported here.

        Raises `ObjNotFoundError`, or `ObjMismatchError` if something else is found there.
        """
        if name is None:
            name = getattr(obj, "__qualname__", None) or obj.__name__
        module_name = self.whichmodule(obj, name)
        try:
            found = self.import_module(module_name)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, KeyError, AttributeError):
            raise ObjNotFoundError(f"{obj} was not found as {module_name}.{name}") from None
        if found is not obj:
            raise ObjMismatchError(f"The object {obj} is not the same as the object found when "
                                   f"importing {module_name}.{name}")
        return module_name, name


class _SysImporter(Importer):
    """Python's own environment."""

    def import_module(self, module_name):
        return importlib.import_module(module_name)


sys_importer = _SysImporter()


class OrderedImporter(Importer):
    """Asks several importers in turn."""

    def __init__(self, *args):
        self._importers = list(args)

    def import_module(self, module_name):
        last = None
        for importer in self._importers:
            try:
                return importer.import_module(module_name)
            except ModuleNotFoundError as error:
                last = error
        raise last or ModuleNotFoundError(module_name)

    def whichmodule(self, obj, name):
        for importer in self._importers:
            module = importer.whichmodule(obj, name)
            if module != "__main__":
                return module
        return "__main__"
