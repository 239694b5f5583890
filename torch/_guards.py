"""What a running compiler would say about itself. None runs."""

from torch._missing import missing_class

Source = missing_class("torch._guards.Source")
Guard = missing_class("torch._guards.Guard")


class CompileContext:
    """The compilation that runs: none."""

    @staticmethod
    def get():
        raise AssertionError("get() called, but no CompileContext")

    @staticmethod
    def try_get():
        return None

    @staticmethod
    def current_compile_id():
        return None


class TracingContext:
    """The tracing that runs: none."""

    @staticmethod
    def get():
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")

    @staticmethod
    def try_get():
        return None


def detect_fake_mode(inputs=None):
    """The mode of fake tensors among the inputs or now active: None if there is none."""
    from torch.utils import _pytree

    for leaf in _pytree.tree_leaves(inputs):
        mode = getattr(leaf, "fake_mode", None)
        if mode is not None:
            return mode
    return None


def active_fake_mode():
    return None


def tracing(context):
    """Would mark a block in which something is traced."""
    raise NotImplementedError("torch._guards.tracing is not implemented")
