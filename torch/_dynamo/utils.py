"""Small questions about the compiler."""

from collections import Counter, defaultdict

counters = defaultdict(Counter)


def is_compile_supported(device_type):
    """Can code for that device be compiled? Not yet."""
    return False


def is_compiling():
    return False


def compile_times(repr="str", aggregate=False):
    """A report of the time spent compiling: none."""
    return "TorchDynamo compilation metrics:\n" if repr == "str" else ([], [])


def is_namedtuple(obj):
    from torch.utils._pytree import is_namedtuple_instance

    return is_namedtuple_instance(obj)
