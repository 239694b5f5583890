"""`torch.utils.deterministic.fill_uninitialized_memory`, an attribute that checks its values.

With deterministic algorithms switched on, it says whether new memory is filled with NaN or the
largest integer.
"""

import sys
import types

from torch import _settings


class _Deterministic(types.ModuleType):
    @property
    def fill_uninitialized_memory(self):
        """Whether memory of new tensors is filled while algorithms must be deterministic."""
        return _settings._state["fill"]

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode):
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        _settings._set_fill_uninitialized_memory(mode)


sys.modules[__name__].__class__ = _Deterministic
