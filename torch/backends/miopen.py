"""MIOpen: not in this build."""

from torch.backends._flags import install as _install

_set, _flags = _install(__name__, immediate=False)


def set_flags(_immediate=None):
    return (_set(immediate=_immediate)["immediate"],)


def flags(immediate=False):
    return _flags(immediate=immediate)
