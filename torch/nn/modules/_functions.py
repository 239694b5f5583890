"""Autograd functions that modules are built with."""
from torch.autograd import Function


class BackwardHookFunction(Function):
    """The identity on any number of tensors; a place to hang backward hooks."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *args):
        return args
