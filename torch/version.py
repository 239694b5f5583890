"""What this build is. `torch.__version__` says the same."""

__all__ = ["__version__", "debug", "cuda", "git_version", "hip", "rocm", "xpu"]
__version__ = "2.15.0+rushlight"
debug = False
cuda = None
git_version = "rushlight"
hip = None
rocm = None
xpu = None
