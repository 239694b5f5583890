"""How this build was made."""

__all__ = ["show", "parallel_info"]


def show():
    """A text about the build: version, instruction sets, libraries."""
    import torch
    from torch import _build_info as build

    lines = [
        "Rushlight built with:",
        f"  - version {torch.__version__}, commit {build.git_version}",
        f"  - {build.compiler}, C++ flags: {build.cxx_flags.strip()}, {build.build_type}",
        f"  - kernels for x86-64 levels: {build.instruction_sets}",
        f"  - CPU capability usage: {torch.backends.cpu.get_cpu_capability()}",
        f"  - oneDNN {build.onednn} for matrix products and convolutions",
        f"  - OpenBLAS {build.openblas} for LAPACK",
        "  - OpenMP threads",
        "  - no CUDA",
    ]
    if build.sanitizer:
        lines.append(f"  - sanitizer: {build.sanitizer}")
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
