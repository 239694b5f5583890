"""The graph of DataPipes below one."""

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]


def _inner(value, seen):
    """The pipes that an attribute refers to, also within containers."""
    if isinstance(value, (IterDataPipe, MapDataPipe)):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from _inner(v, seen)
    elif isinstance(value, (list, tuple, set)):
        for v in value:
            yield from _inner(v, seen)


def traverse_dps(datapipe):
    """``{id: (pipe, graph of the pipes that it reads from)}``."""
    inner = {}
    for value in vars(datapipe).values():
        for pipe in _inner(value, set()):
            inner.update(traverse_dps(pipe))
    return {id(datapipe): (datapipe, inner)}


def traverse(datapipe, only_datapipe=None):
    """As `traverse_dps`."""
    return traverse_dps(datapipe)
