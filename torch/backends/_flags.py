"""What backend modules share: settings that are remembered, and context managers over them."""

import sys
import types
from contextlib import contextmanager


class Settings(types.ModuleType):
    """A module whose names in `_known` can be set; other names may not be invented."""

    _known = {}

    def __setattr__(self, name, value):
        is_new = name not in self._known and name not in self.__dict__
        if is_new and not name.startswith("_") and not isinstance(value, types.ModuleType):
            raise RuntimeError(f"unknown setting {self.__name__}.{name}")
        super().__setattr__(name, value)


def install(module, **settings):
    """Turns the module of that name into `Settings` with these initial values.

    Returns (set_flags, flags): the function that sets several at once and returns the old values,
    and the context manager that restores them.
    """
    here = sys.modules[module]
    here.__dict__.update(settings)
    here.__dict__["_known"] = dict(settings)
    here.__class__ = Settings

    def set_flags(**new):
        old = {k: getattr(here, k) for k in settings}
        for k, v in new.items():
            if v is not None and k in settings:
                setattr(here, k, v)
        return old

    @contextmanager
    def flags(**new):
        old = set_flags(**new)
        try:
            yield
        finally:
            set_flags(**old)

    return set_flags, flags
