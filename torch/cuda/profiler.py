"""Start and stop of CUDA's own profiler: needs a device."""

from contextlib import contextmanager


def start():
    """Starts recording: AssertionError in this build."""
    raise AssertionError("Torch not compiled with CUDA enabled")


stop = start


@contextmanager
def profile():
    """Records what a block does: AssertionError in this build."""
    start()
    yield
