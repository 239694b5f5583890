"""Names of tracing. Recording a run as script is not there yet."""

import functools
from collections import OrderedDict

from torch._missing import missing_class
from torch.jit._script import ScriptModule

ONNXTracedModule = missing_class("torch.jit.ONNXTracedModule")


class TracerWarning(Warning):
    """What was traced may not hold for other inputs."""

    @staticmethod
    def ignore_lib_warnings():
        import warnings

        warnings.filterwarnings("ignore", category=TracerWarning, module="torch.(?!jit)")


class TracingCheckError(Exception):
    """A trace does not give the results of the function."""


class TracedModule(ScriptModule):
    """The class of traced modules. There is no way to make one yet."""

    def __init__(self, orig, id_set=None, _compilation_unit=None):
        raise NotImplementedError("torch.jit.trace is not implemented")


class TopLevelTracedModule(TracedModule):
    """See `TracedModule`."""


def is_tracing():
    """Is a trace being recorded? No."""
    return False


def _script_if_tracing(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    wrapper.__original_fn = fn
    wrapper.__script_if_tracing_wrapper = True
    return wrapper


def _unique_state_dict(module, keep_vars=False):
    """``state_dict`` with each tensor once."""
    seen, result = set(), OrderedDict()
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) in seen:
            continue
        seen.add(id(value))
        result[name] = value if keep_vars else value.detach()
    return result
