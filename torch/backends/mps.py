"""Apple's MPS: not in this build."""

__all__ = ["is_built", "is_available", "is_macos_or_newer", "is_macos13_or_newer",
           "get_name", "get_core_count"]


def is_built():
    return False


def is_available():
    return False


def is_macos_or_newer(major, minor):
    return False


def is_macos13_or_newer(minor=0):
    return False


def get_name():
    raise RuntimeError("MPS is not available in this build")


def get_core_count():
    raise RuntimeError("MPS is not available in this build")
