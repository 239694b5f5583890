"""Questions about the code-generating compiler."""


def is_big_gpu(index=0):
    """False: no GPU."""
    return False
