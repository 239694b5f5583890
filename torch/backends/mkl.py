"""MKL: not in this build."""

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available():
    return False


class verbose:
    """Raises on use: there is no MKL to report on."""

    def __init__(self, enable):
        self.enable = enable

    def __enter__(self):
        if self.enable != VERBOSE_OFF:
            raise RuntimeError("MKL is not available in this build")
        return self

    def __exit__(self, *exc):
        return False
