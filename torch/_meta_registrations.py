"""Results without numbers: operators of this package run on tensors of the meta device as they are.

`register_meta` adds such an implementation for an operator of your own.
"""

__all__ = ["register_meta"]


def register_meta(op):
    """A decorator: the function is the operator's implementation for the meta device."""
    from torch._decomp import register_decomposition

    return register_decomposition(op, type="meta")
