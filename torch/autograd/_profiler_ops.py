"""``torch.ops.profiler``: regions of a profile, entered and left by calls."""
import torch
from torch import _C
from torch.library import Library

_library = Library("profiler", "DEF")


def _define(schema, function):
    _library.define(schema)
    _library.impl(schema.partition("(")[0], function, "CompositeImplicitAutograd")


def _enter(name, args=None):
    return _C._profiler_enter(name)


def _enter_as_tensor(name, args=None):
    return torch.tensor(_C._profiler_enter(name))


_define("_record_function_enter_new(str name, str? args=None) -> int", _enter)
_define("_record_function_exit._RecordFunction(int handle) -> ()", _C._profiler_leave)
_define("_record_function_enter(str name, str? args=None) -> Tensor", _enter_as_tensor)
_define("_record_function_exit(Tensor handle) -> ()",
        lambda handle: _C._profiler_leave(handle.item()))
