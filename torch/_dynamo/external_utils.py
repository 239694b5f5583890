"""Functions that compiled code would call."""

import functools


def is_compiling():
    return False


def wrap_inline(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)

    return inner
