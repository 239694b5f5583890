"""torch.jit: marks for the script compiler, and `script`, which here runs Python.

Nothing is compiled: a scripted function or module runs its Python code and gives the same results.
What needs compiled script (its source, graph, files) and tracing raise NotImplementedError.
"""

import warnings
from contextlib import contextmanager
from typing import Final  # noqa: F401

from torch._jit_internal import (  # noqa: F401
    Future,
    _drop,
    _IgnoreContextManager,
    _isinstance,
    _overload,
    _overload_method,
    export,
    ignore,
    is_scripting,
    unused,
)
from torch._missing import add_missing
from torch.jit._script import (  # noqa: F401
    Attribute,
    CompilationUnit,
    RecursiveScriptClass,
    RecursiveScriptModule,
    ScriptFunction,
    ScriptModule,
    ScriptWarning,
    _unwrap_optional,
    interface,
    script,
    script_method,
)
from torch.jit._trace import (  # noqa: F401
    ONNXTracedModule,
    TopLevelTracedModule,
    TracedModule,
    TracerWarning,
    TracingCheckError,
    _script_if_tracing,
    _unique_state_dict,
    is_tracing,
)

__all__ = [
    "Attribute", "CompilationUnit", "Error", "Future", "ScriptFunction", "ScriptModule", "annotate",
    "enable_onednn_fusion", "export", "export_opnames", "fork", "freeze", "interface", "ignore",
    "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "save", "script",
    "script_if_tracing", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused",
    "wait",
]

add_missing(globals(), "torch.jit",
            "trace trace_module load save export_opnames jit_module_from_flatbuffer "
            "save_jit_module_to_flatbuffer last_executed_optimized_graph _get_trace_graph "
            "_flatten")


class Error(Exception):
    """An error in compiled script."""


def annotate(the_type, the_value):
    """`the_value`; tells the script compiler its type."""
    return the_value


def script_if_tracing(fn):
    """Compiles `fn` when it is first called while tracing; otherwise it is Python."""
    return _script_if_tracing(fn)


def isinstance(obj, target_type):
    """`isinstance` that understands container types: ``List[int]``, ``Optional[Tensor]``."""
    return _isinstance(obj, target_type)


def _deprecated(name, instead="`torch.compile` instead"):
    warnings.warn(f"`torch.jit.{name}` is deprecated. Please use {instead}.",
                  category=FutureWarning, stacklevel=3)


def fork(func, *args, **kwargs):
    """A `Future` of ``func(*args, **kwargs)``; in Python the call is made at once."""
    _deprecated("fork")
    return _fork(func, *args, **kwargs)


def _fork(func, *args, **kwargs):
    future = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future):
    """The result of a `Future`."""
    _deprecated("wait")
    return _wait(future)


def _wait(future):
    return future.wait()


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """A scripted module in evaluation mode whose parameters are constants."""
    if not _isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script "
                           "or torch.jit.trace to script your 'nn.Module'.")
    raise NotImplementedError("torch.jit.freeze is not implemented")


def run_frozen_optimizations(mod, optimize_numerics=True, preserved_methods=None):
    raise NotImplementedError("torch.jit.run_frozen_optimizations is not implemented")


def optimize_for_inference(mod, other_methods=None):
    if not _isinstance(mod, ScriptModule):
        raise RuntimeError("optimize_for_inference expects a ScriptModule as input. Please use "
                           "torch.jit.script or torch.jit.trace to script your 'nn.Module'.")
    raise NotImplementedError("torch.jit.optimize_for_inference is not implemented")


_fusion_strategy = [("STATIC", 2), ("DYNAMIC", 10)]
_onednn_fusion = False


def set_fusion_strategy(strategy):
    """Remembers how often to specialise compiled code; returns the old strategy."""
    global _fusion_strategy
    before, _fusion_strategy = _fusion_strategy, list(strategy)
    return before


def enable_onednn_fusion(enabled):
    """Remembered: there is no compiled graph to fuse."""
    global _onednn_fusion
    _onednn_fusion = bool(enabled)


def onednn_fusion_enabled():
    return _onednn_fusion


@contextmanager
def optimized_execution(should_optimize):
    """Would switch optimisations of compiled code within the block."""
    yield


@contextmanager
def fuser(name):
    """Would choose the fuser of compiled code within the block."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


class strict_fusion:
    """Asks compiled script for an error where a block is not fused; Python goes on."""

    def __enter__(self):
        if not is_scripting():
            warnings.warn("Only works in script mode", stacklevel=2)

    def __exit__(self, type, value, tb):
        pass


@contextmanager
def _hide_source_ranges():
    yield


def set_module(obj, mod):
    """Sets ``__module__``."""
    if not _isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def __getattr__(name):
    if name in ("_async", "_script", "_state", "_trace", "annotations", "frontend"):
        from importlib import import_module

        return import_module("torch.jit." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


