"""cuDNN: not in this build. Settings are remembered so that programs may set them."""

from torch.backends import ContextProp, PropModule  # noqa: F401
from torch.backends._flags import Settings as CudnnModule  # noqa: F401
from torch.backends._flags import install as _install

_set, _flags = _install(
    __name__, enabled=True, benchmark=False, benchmark_limit=10, deterministic=False,
    allow_tf32=True, fp32_precision="none", depthwise_kernel="auto",
)


def is_available():
    return False


def version():
    return None


def is_acceptable(tensor):
    return False


def set_flags(_enabled=None, _benchmark=None, _benchmark_limit=None, _deterministic=None,
              _allow_tf32=None, _fp32_precision="none", _depthwise_kernel=None):
    """Sets what is not None; returns the old values."""
    old = _set(enabled=_enabled, benchmark=_benchmark, benchmark_limit=_benchmark_limit,
               deterministic=_deterministic, allow_tf32=_allow_tf32,
               fp32_precision=_fp32_precision, depthwise_kernel=_depthwise_kernel)
    return tuple(old.values())


def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False,
          allow_tf32=True, fp32_precision="none", depthwise_kernel="auto"):
    """Context manager: these settings inside the block."""
    return _flags(enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit,
                  deterministic=deterministic, allow_tf32=allow_tf32,
                  fp32_precision=fp32_precision, depthwise_kernel=depthwise_kernel)


def __getattr__(name):
    if name == "rnn":
        from importlib import import_module

        return import_module("torch.backends.cudnn.rnn")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
