"""Operators that take functions. In eager mode they are loops and branches of Python."""

from torch import cond, while_loop  # noqa: F401

__all__ = ["cond", "while_loop"]
