"""`torch.jit.script`, and the classes of scripted things. They run the Python code they wrap."""

import functools
import inspect
import warnings
from collections import OrderedDict, namedtuple

import torch
from torch._missing import missing_class

Attribute = namedtuple("Attribute", ["value", "type"])
CompilationUnit = missing_class("torch.jit.CompilationUnit")
RecursiveScriptClass = missing_class("torch.jit.RecursiveScriptClass")


class ScriptWarning(Warning):
    """A doubtful construct in script."""


def _not_there(what):
    raise NotImplementedError(f"torch.jit: {what} needs compiled TorchScript, which is not "
                              "implemented")


class ScriptFunction:
    """A function given to `script`. Calling it runs the Python function."""

    def __init__(self, function):
        self._function = function
        self.name = function.__name__
        self._torchdynamo_inline = function
        self.__doc__ = function.__doc__

    @property
    def qualified_name(self):
        from torch._jit_internal import _qualified_name

        return _qualified_name(self._function)

    @property
    def __signature__(self):
        return inspect.signature(self._function)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __get__(self, instance, owner=None):
        # Functions of a class body that are scripted stay static, as compiled ones are.
        return self

    def __reduce__(self):
        raise Exception("ScriptFunction cannot be pickled")

    @property
    def code(self):
        _not_there("ScriptFunction.code")

    @property
    def graph(self):
        _not_there("ScriptFunction.graph")

    inlined_graph = schema = graph

    def save(self, filename, _extra_files=None):
        _not_there("ScriptFunction.save")

    def save_to_buffer(self, _extra_files=None):
        _not_there("ScriptFunction.save_to_buffer")

    def graph_for(self, *args, **kwargs):
        _not_there("ScriptFunction.graph_for")

    def get_debug_state(self):
        _not_there("ScriptFunction.get_debug_state")


ScriptFunction.__module__ = "torch.jit"


class ScriptModule(torch.nn.Module):
    """A module that is, or could be, compiled script. Derived classes run as Python."""

    def __init__(self):
        super().__init__()

    def save(self, f, **kwargs):
        _not_there("ScriptModule.save")

    def save_to_buffer(self, *args, **kwargs):
        _not_there("ScriptModule.save_to_buffer")

    @property
    def code(self):
        _not_there("ScriptModule.code")

    @property
    def graph(self):
        _not_there("ScriptModule.graph")

    @property
    def inlined_graph(self):
        _not_there("ScriptModule.inlined_graph")

    @property
    def code_with_constants(self):
        _not_there("ScriptModule.code_with_constants")


class RecursiveScriptModule(ScriptModule):
    """A module given to `script`: shares parameters and buffers with it, calls its ``forward``."""

    def __init__(self, original):
        super().__init__()
        state = self.__dict__
        state["_original"] = original
        state["training"] = original.training
        state["_parameters"] = original._parameters
        state["_buffers"] = original._buffers
        state["_non_persistent_buffers_set"] = original._non_persistent_buffers_set
        state["_modules"] = OrderedDict(
            (name, None if child is None else _script_module(child))
            for name, child in original._modules.items()
        )

    @property
    def original_name(self):
        return type(self._original).__name__

    def forward(self, *args, **kwargs):
        return self._original(*args, **kwargs)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            original = self.__dict__.get("_original")
            if original is None or not hasattr(original, name):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute "
                                     f"'{name}'") from None
        return getattr(original, name)

    def __setattr__(self, name, value):
        if name in self.__dict__ or "_original" not in self.__dict__:
            super().__setattr__(name, value)
        else:
            setattr(self._original, name, value)

    def train(self, mode=True):
        self._original.train(mode)
        return super().train(mode)

    def extra_repr(self):
        return f"original_name={self.original_name}"


def _script_module(module):
    return module if isinstance(module, ScriptModule) else RecursiveScriptModule(module)


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Marks a function, module or class as script.

    A function becomes a `ScriptFunction`, a module a `ScriptModule`, a class stays itself. All run
    their Python code: nothing is compiled, so nothing is rejected either.
    """
    warnings.warn("`torch.jit.script` is deprecated. Please switch to `torch.compile` or "
                  "`torch.export`.", category=FutureWarning, stacklevel=1)
    if optimize is not None:
        warnings.warn("`optimize` is deprecated and has no effect. Use `with "
                      "torch.jit.optimized_execution()` instead", FutureWarning, stacklevel=2)
    if isinstance(obj, (ScriptModule, ScriptFunction)):
        return obj
    if isinstance(obj, torch.nn.Module):
        prepare = getattr(obj, "__prepare_scriptable__", None)
        return _script_module(prepare() if prepare else obj)
    if isinstance(obj, (dict, list)):
        raise NotImplementedError("torch.jit.script of a dict or list is not implemented")
    if inspect.isclass(obj):
        if issubclass(obj, torch.nn.Module):
            raise RuntimeError(f"Type '{obj}' cannot be compiled since it inherits from nn.Module,"
                               " consider passing an instance instead")
        return obj
    if not (inspect.isfunction(obj) or inspect.ismethod(obj)):
        raise NotImplementedError(f"torch.jit.script of {type(obj)} is not implemented")
    return ScriptFunction(getattr(obj, "__func__", obj) if inspect.ismethod(obj) else obj)


def script_method(fn):
    """Marks a method of a `ScriptModule` to be compiled; it runs as Python."""
    return fn


def interface(obj):
    """Marks a class as an interface of script modules."""
    if not inspect.isclass(obj):
        raise RuntimeError("interface must be applied to a class")
    obj.__torch_script_interface__ = functools.partial(_not_there, "an interface")
    return obj


def _unwrap_optional(x):
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x
