"""torch.multiprocessing: Python's multiprocessing, with tensors that travel in shared memory."""

import multiprocessing
from multiprocessing import *  # noqa: F403

__all__ = list(multiprocessing.__all__)
