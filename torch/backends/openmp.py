"""OpenMP, on which parallel loops run."""


def is_available():
    return True
