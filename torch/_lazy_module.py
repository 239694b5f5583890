"""Modules whose names come in when first used, but whose `__dict__` is complete.

A module-level `__getattr__` is not asked by ``vars(module)`` and ``module.__dict__[name]``, which
programs use to list classes or to choose one by name. A module of this class loads all its names
before it shows its dictionary.
"""

import sys
from types import ModuleType

_dict_of = ModuleType.__dict__["__dict__"].__get__


class LazyModule(ModuleType):
    """A module with `__getattr__` and `__dir__` functions of its own."""

    @property
    def __dict__(self):
        names = _dict_of(self)
        if not names.get("_all_loaded"):
            names["_all_loaded"] = True
            for name in dir(self):
                if name not in names:
                    try:
                        names[name] = getattr(self, name)
                    except (AttributeError, ImportError, NotImplementedError):
                        pass  # listed for a package that is not installed or not written
        return names

    def __dir__(self):
        return _dict_of(self)["__dir__"]()


def complete_dict(name):
    """Makes the `__dict__` of an imported module complete."""
    sys.modules[name].__class__ = LazyModule
