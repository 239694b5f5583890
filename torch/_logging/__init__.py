"""Logs of the parts of this package: which are shown, and helpers to write them."""

import functools
import logging

__all__ = ["set_logs", "getArtifactLogger", "LazyString", "trace_structured", "warning_once"]

_NAMES = {
    "all": "torch", "dynamo": "torch._dynamo", "aot": "torch._functorch",
    "inductor": "torch._inductor", "dynamic": "torch.fx.experimental.symbolic_shapes",
    "torch": "torch", "distributed": "torch.distributed", "export": "torch.export",
    "onnx": "torch.onnx", "autograd": "torch.autograd",
}
_artifacts = {}


def set_logs(*, modules=None, **levels):
    """Levels of logs by part: ``set_logs(dynamo=logging.DEBUG, graph_breaks=True)``.

    `modules` gives levels to modules by name. Artifacts (`graph_code`, `recompiles`, ...) are on
    or off.
    """
    for name, level in levels.items():
        if name in _NAMES:
            logging.getLogger(_NAMES[name]).setLevel(level)
        elif isinstance(level, bool):
            _artifacts[name] = level
        else:
            raise ValueError(f"Unrecognized log or artifact name passed to set_logs: {name}")
    for name, level in (modules or {}).items():
        logging.getLogger(name).setLevel(level)


def getArtifactLogger(module_qname, artifact_name):
    """The logger of one kind of output of a module."""
    logger = logging.getLogger(f"{module_qname}.__{artifact_name}")
    logger.artifact_name = artifact_name
    return logger


class LazyString:
    """Text that is made when it is shown."""

    def __init__(self, func, *args, **kwargs):
        self.func, self.args, self.kwargs = func, args, kwargs

    def __str__(self):
        return self.func(*self.args, **self.kwargs)


def trace_structured(*args, **kwargs):
    """Structured traces are not written."""


@functools.lru_cache(None)
def warning_once(logger_obj, *args, **kwargs):
    """A warning given once for these arguments."""
    logger_obj.warning(*args, **kwargs)
