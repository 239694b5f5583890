"""The processor as the kernels see it."""

__all__ = ["get_cpu_capability"]


def get_cpu_capability():
    """``"AVX512"``, ``"AVX2"`` or ``"DEFAULT"``."""
    from torch import cpu

    if cpu._is_avx512_supported():
        return "AVX512"
    return "AVX2" if cpu._is_avx2_supported() else "DEFAULT"
