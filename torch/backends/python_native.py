"""Operators written in kernel languages for Python. None of these languages is supported."""

from contextlib import contextmanager

all_dsls = ["cutedsl", "flydsl", "helion", "triton"]
available_dsls = []


def get_dsl_operations(dsl_name):
    """The operators that a language implements: none."""
    _check(dsl_name)
    return []


def is_dsl_disabled(dsl_name):
    _check(dsl_name)
    return True


def is_operation_disabled(op_symbol):
    return False


def _check(name):
    if name not in all_dsls:
        raise ValueError(f"Unknown DSL: {name}. Available DSLs: {all_dsls}")


def disable_operations(*op_symbols):
    """Nothing is implemented so, and nothing need be disabled."""


enable_operations = disable_dispatch_keys = enable_dispatch_keys = disable_operations


@contextmanager
def operations_disabled(*op_symbols):
    """Without these operators inside the block."""
    yield
