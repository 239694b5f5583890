"""`multiprocessing.pool.Pool`, which shares tensors as it is."""

from multiprocessing.pool import Pool

__all__ = ["Pool"]
