"""How this build was made."""

__all__ = ["show", "parallel_info"]


def show():
    """A text about the build: version, instruction sets, libraries."""
    import torch

    lines = [
        "Rushlight built with:",
        f"  - version {torch.__version__}",
        f"  - CPU capability usage: {torch.backends.cpu.get_cpu_capability()}",
        "  - oneDNN for matrix products and convolutions, OpenBLAS for LAPACK, OpenMP",
        "  - no CUDA",
    ]
    return "\n".join(lines) + "\n"


def parallel_info():
    """A text about threads."""
    import os

    import torch

    return (
        f"ATen/Parallel:\n\tat::get_num_threads() : {torch.get_num_threads()}\n"
        f"\tat::get_num_interop_threads() : {torch.get_num_interop_threads()}\n"
        "Environment variables:\n"
        f"\tOMP_NUM_THREADS : {os.environ.get('OMP_NUM_THREADS', '[not set]')}\n"
        f"\tMKL_NUM_THREADS : {os.environ.get('MKL_NUM_THREADS', '[not set]')}\n"
        "ATen parallel backend: OpenMP\n"
    )
