"""NNPACK: not in this build."""

from torch.backends._flags import install as _install

_set, _flags = _install(__name__, enabled=False)


def is_available():
    return False


def set_flags(_enabled):
    return (_set(enabled=_enabled)["enabled"],)


def flags(enabled=False):
    return _flags(enabled=enabled)
