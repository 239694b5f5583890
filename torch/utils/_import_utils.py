"""Packages that may be installed."""

import functools
import importlib.util


def _check_module_exists(name):
    """Whether `name` could be imported; imports nothing."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@functools.lru_cache(None)
def dill_available():
    """Whether dill is installed and usable."""
    return _check_module_exists("dill")


@functools.lru_cache(None)
def import_dill():
    """dill, without its changes to pickle; None if it is not installed."""
    if not dill_available():
        return None
    import dill

    dill.extend(use_dill=False)
    return dill
