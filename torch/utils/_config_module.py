"""Modules of settings: attributes with defaults, checked names, temporary changes (`patch`)."""

import contextlib
import functools
import pickle
import sys
import types

__all__ = ["ConfigModule", "install_config_module"]


class ConfigModule(types.ModuleType):
    """A module whose attributes are settings. Unknown names raise AttributeError."""

    def __init__(self, name, doc, defaults):
        super().__init__(name, doc)
        object.__setattr__(self, "_values", dict(defaults))
        object.__setattr__(self, "_defaults", dict(defaults))
        object.__setattr__(self, "_aliases", {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        name = self._aliases.get(name, name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"{self.__name__}.{name} does not exist") from None

    def __setattr__(self, name, value):
        if name.startswith("__"):
            return super().__setattr__(name, value)
        name = self._aliases.get(name, name)
        if name not in self._values:
            raise AttributeError(f"{self.__name__}.{name} does not exist")
        self._values[name] = value

    def __delattr__(self, name):
        if name not in self._values:
            raise AttributeError(name)
        self._values[name] = self._defaults[name]

    def __dir__(self):
        return [*self._values, *self._aliases, "patch", "save_config", "load_config", "to_dict",
                "get_config_copy", "shallow_copy_dict", "get_type", "get_hash"]

    def to_dict(self):
        """All settings with their values."""
        return dict(self._values)

    shallow_copy_dict = get_config_copy = to_dict

    def get_type(self, config_name):
        return type(getattr(self, config_name))

    def get_hash(self):
        return hash(repr(sorted(self._values.items())))

    def save_config(self):
        """The settings as bytes for `load_config`."""
        return pickle.dumps(self._values)

    def load_config(self, maybe_pickled_config):
        """Takes settings from a dict or from the bytes of `save_config`."""
        values = maybe_pickled_config
        if not isinstance(values, dict):
            values = pickle.loads(values)
        for name, value in values.items():
            setattr(self, name, value)

    def patch(self, arg1=None, arg2=None, **kwargs):
        """Changes settings inside a ``with`` block or a decorated function.

        ``patch("name", value)``, ``patch(name=value)`` or ``patch({"name": value})``.
        """
        if isinstance(arg1, str):
            changes = {arg1: arg2}
        elif arg1 is not None:
            changes = dict(arg1)
        else:
            changes = kwargs
        if not isinstance(changes, dict):
            raise AssertionError(f"expected `dict` got {type(changes)}")
        return _Patch(self, changes)


class _Patch(contextlib.ContextDecorator):
    def __init__(self, module, changes):
        self.module, self.changes, self.before = module, changes, []

    def __enter__(self):
        self.before.append({name: getattr(self.module, name) for name in self.changes})
        for name, value in self.changes.items():
            setattr(self.module, name, value)

    def __exit__(self, *error):
        for name, value in self.before.pop().items():
            setattr(self.module, name, value)
        return False

    def __call__(self, func):
        if isinstance(func, type):
            raise NotImplementedError("patching a class of tests is not implemented")
        return functools.wraps(func)(super().__call__(func))


def install_config_module(module, aliases=()):
    """Turns a module of plain assignments into a `ConfigModule`; `aliases` are other names."""
    defaults = {name: value for name, value in vars(module).items()
                if not name.startswith("__")
                and not isinstance(value, (types.ModuleType, types.FunctionType, type))}
    made = ConfigModule(module.__name__, module.__doc__, defaults)
    made._aliases.update(aliases)
    for name in ("__file__", "__spec__", "__loader__", "__package__"):
        types.ModuleType.__setattr__(made, name, getattr(module, name, None))
    sys.modules[module.__name__] = made
    return made
