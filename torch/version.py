"""What this build is. `torch.__version__` says the same."""

__all__ = ["__version__", "debug", "cuda", "git_version", "hip", "rocm", "xpu"]
__version__ = "2.15.0+rushlight"
debug = False
cuda = None
hip = None
rocm = None
xpu = None


def __getattr__(name):
    if name == "git_version":
        from torch._build_info import git_version

        return git_version
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
