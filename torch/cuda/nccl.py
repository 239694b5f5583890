"""NVIDIA's collectives between GPUs: there are none."""

SUM = 0


def is_available(tensors):
    """False: there are no GPUs."""
    return False


def version():
    raise RuntimeError("NCCL is not available: Torch not compiled with CUDA enabled")


def _refuse(*args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


all_reduce = reduce = broadcast = all_gather = reduce_scatter = unique_id = init_rank = _refuse
