"""oneDNN, which does matrix products and convolutions."""

from torch.backends import ContextProp, PropModule  # noqa: F401
from torch.backends._flags import Settings as MkldnnModule  # noqa: F401
from torch.backends._flags import install as _install

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2
_set, _flags = _install(
    __name__, enabled=True, deterministic=False, allow_tf32=False, fp32_precision="none"
)


def is_available():
    return True


def is_acl_available():
    """Arm's Compute Library: not used."""
    return False


def set_flags(_enabled=None, _deterministic=None, _allow_tf32=None, _fp32_precision="none"):
    """Sets what is not None; returns the old values."""
    old = _set(enabled=_enabled, deterministic=_deterministic, allow_tf32=_allow_tf32)
    return tuple(old[n] for n in ("enabled", "deterministic", "allow_tf32"))


def flags(enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none"):
    """Context manager: these settings inside the block."""
    return _flags(enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)


class verbose:
    """Inside the block oneDNN would report its kernels; this build has no such report."""

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        if self.level != VERBOSE_OFF:
            raise NotImplementedError("torch.backends.mkldnn.verbose is not implemented")
        return self

    def __exit__(self, *exc):
        return False
