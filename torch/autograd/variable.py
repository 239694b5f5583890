"""``torch.autograd.Variable``: the old name of a tensor, and the engine object."""
import torch

__all__ = ["VariableMeta", "Variable"]


class _Engine:
    """Functions of the backward engine that programs reach through ``Variable``."""

    @staticmethod
    def queue_callback(callback):
        """Call `callback()` at the end of the backward pass that is running."""
        torch._C._queue_callback(callback)

    @staticmethod
    def run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs=(),
                     allow_unreachable=True, accumulate_grad=True):
        return torch._C._run_backward(tuple(tensors), tuple(grad_tensors), keep_graph, create_graph,
                                      tuple(inputs), allow_unreachable, accumulate_grad)

    @staticmethod
    def is_checkpoint_valid():
        return torch._C._is_checkpoint_valid()


class VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, torch.Tensor)


class Variable(metaclass=VariableMeta):
    """``Variable(data, requires_grad=False)`` gives a tensor that shares memory with `data`."""

    _execution_engine = _Engine()

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if data is None:
            data = torch.empty(0)
        out = data.detach()
        if requires_grad:
            out.requires_grad_(True)
        return out
