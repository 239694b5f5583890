"""`custom_op` and what it returns."""

from torch._custom_op_def import CustomOpDef, custom_op
from torch._operators import find as _find

__all__ = ["CustomOpDef", "custom_op"]


def get_ctx():
    from torch.library import get_ctx as of_library

    return of_library()


def _maybe_get_opdef(op):
    """The `CustomOpDef` of an operator, or None."""
    if isinstance(op, CustomOpDef):
        return op
    found = _find(getattr(op, "_qualname", op))
    return None if found is None else found.custom
