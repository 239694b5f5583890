"""The recorded graph: its nodes, what they save, and hooks on them."""
from abc import ABC, abstractmethod
from collections import namedtuple

import torch
from torch import _C

__all__ = ["saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks",
           "register_multi_grad_hook", "allow_mutation_on_saved_tensors", "Node", "GradientEdge",
           "get_gradient_edge", "increment_version", "queue_callback", "node_creation_hook",
           "region_activation_memory_budget", "set_warn_on_accumulate_grad_stream_mismatch",
           "set_override_stale_capture_stream"]


class Node(ABC):
    """What ``tensor.grad_fn`` is: it turns gradients of outputs into those of inputs."""

    @abstractmethod
    def name(self):
        """The name of the node's kind, such as ``"AddBackward0"``."""

    @property
    @abstractmethod
    def next_functions(self):
        """A tuple of ``(node, number of its output)``: where the gradients go."""

    @abstractmethod
    def metadata(self):
        """A dictionary of the node."""

    @abstractmethod
    def register_hook(self, fn):
        """``fn(grad_inputs, grad_outputs)`` runs after the node, and may return `grad_inputs`."""

    @abstractmethod
    def register_prehook(self, fn):
        """``fn(grad_outputs)`` runs before the node and may return other gradients."""

    @classmethod
    def __subclasshook__(cls, subclass):
        if cls is Node:
            return issubclass(subclass, (_C._NodeBase, _C._FunctionBase)) or NotImplemented
        return NotImplemented


class GradientEdge(namedtuple("_Edge", ("node", "output_nr", "ownership_token"), defaults=(None,))):
    """One output of a node: where backward can start, or for which a gradient can be asked."""

    __slots__ = ()

    def __repr__(self):
        return (f"GradientEdge(node={self.node!r}, output_nr={self.output_nr!r}, "
                f"ownership_token={self.ownership_token!r})")


def get_gradient_edge(tensor):
    """The edge at which gradients of `tensor` arrive; it keeps the graph but not the tensor."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not "
                           "require gradients")
    return GradientEdge(*_C._gradient_edge(tensor))


def increment_version(tensor):
    """Count a write to `tensor` (or to each of several) that autograd could not see."""
    _C._increment_version(tensor)


def queue_callback(callback):
    """Call `callback()` once, at the end of the backward pass that is running."""
    _C._queue_callback(callback)


class saved_tensors_hooks:
    """Replaces what is saved for backward: `pack_hook(tensor)` gives what is kept,
    `unpack_hook(kept)` the tensor again when backward needs it.

    Both run without recording; `pack_hook` must not change its argument.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _C._push_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args):
        _C._pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keeps saved tensors in CPU memory and brings them back to their device for backward.

    Args:
        pin_memory (bool): keep them in page-locked memory.
        device_type (str): the accelerator meant.
    """

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            if not pin_memory:
                return tensor.device, tensor.cpu()
            packed = torch.empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout,
                                 pin_memory=not tensor.is_sparse)
            packed.copy_(tensor)
            return tensor.device, packed

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


class _DisableHooks:
    def __init__(self, message):
        self.message = message

    def __enter__(self):
        self.before = _C._disable_saved_hooks(self.message)

    def __exit__(self, *args):
        _C._disable_saved_hooks(self.before)


def disable_saved_tensors_hooks(error_message):
    """Inside the ``with``, entering :class:`saved_tensors_hooks` raises with this message."""
    return _DisableHooks(error_message)


class _MultiHandle:
    """Removes several hooks at once."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        for h in self.handles:
            h.remove()

    def __getstate__(self):
        return self.handles

    def __setstate__(self, state):
        self.handles = state

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call `fn` once per backward pass when gradients of `tensors` are there.

    Args:
        tensors (sequence of Tensor): tensors that require gradients.
        fn (callable): with ``mode="all"`` it gets the list of all gradients (``None`` for tensors
            that take no part), when the last has come; with ``"any"`` the first that comes.
        mode (str): ``"all"`` or ``"any"``.

    Returns:
        a handle with ``remove()``.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    import threading
    lock = threading.Lock()
    if mode == "any":
        return _any_hook(tensors, fn, lock)
    nodes = [get_gradient_edge(t).node for t in tensors]
    state = {}  # backward pass -> [gradients still to come, the gradients]

    def hook_of(i):
        def hook(grad):
            task = _C._current_graph_task_id()
            with lock:
                if task not in state:
                    state[task] = [
                        sum(map(_C._will_engine_execute_node, nodes)),
                        [None] * len(nodes),
                    ]
                entry = state[task]
                entry[0] -= 1
                entry[1][i] = grad
                last = entry[0] == 0
                if last:
                    del state[task]
            if last:
                fn(entry[1])
        return hook

    return _MultiHandle([t.register_hook(hook_of(i)) for i, t in enumerate(tensors)])


def _any_hook(tensors, fn, lock):
    done = set()

    def hook(grad):
        task = _C._current_graph_task_id()
        with lock:
            if task in done:
                return
            done.add(task)
            queue_callback(lambda: done.discard(task))
        fn(grad)

    return _MultiHandle([t.register_hook(hook) for t in tensors])


class node_creation_hook:
    """Would call `hook(node)` for every node made inside the ``with``: not implemented."""

    def __init__(self, hook):
        raise NotImplementedError("torch.autograd.graph.node_creation_hook is not implemented")


def region_activation_memory_budget(budget):
    """Would bound what a compiled region saves for backward: not implemented."""
    raise NotImplementedError("torch.autograd.graph.region_activation_memory_budget is not "
                              "implemented")


_stream_options = {"warn_on_accumulate_grad_stream_mismatch": True,
                   "override_stale_capture_stream": False}


def set_warn_on_accumulate_grad_stream_mismatch(enabled):
    """Whether to warn of gradients from another stream. A CPU has no streams: remembered."""
    _stream_options["warn_on_accumulate_grad_stream_mismatch"] = bool(enabled)


def set_override_stale_capture_stream(enabled):
    """What capture does with foreign streams. There are no streams on a CPU: remembered."""
    _stream_options["override_stale_capture_stream"] = bool(enabled)


# ---- saved tensors that may be changed in place
class _Kept:
    """One saved tensor: itself, or a copy made just before somebody wrote to its memory."""

    __slots__ = ("tensor", "copied", "__weakref__")

    def __init__(self, tensor):
        self.tensor = tensor
        self.copied = False


class _AllowMutationOnSavedContext:
    def __init__(self):
        import weakref
        self.kept = weakref.WeakSet()
        self.active = True

    def clear(self):
        """Forget the copies that were made."""
        self.kept.clear()

    def _pack(self, tensor):
        kept = _Kept(tensor)
        self.kept.add(kept)
        return kept

    def _unpack(self, kept):
        if not self.active:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' "
                "context in which "
                "the graph was originally recorded."
            )
        return kept.tensor

    def _before_write(self, target):
        storage = target.untyped_storage().data_ptr()
        for kept in list(self.kept):
            if not kept.copied and kept.tensor.untyped_storage().data_ptr() == storage:
                with torch.no_grad():
                    kept.tensor = kept.tensor.detach().clone()
                kept.copied = True


class _AllowMutation:
    def __enter__(self):
        self.context = _AllowMutationOnSavedContext()
        self.hooks = saved_tensors_hooks(self.context._pack, self.context._unpack)
        self.hooks.__enter__()
        _C._push_write_mode(self.context._before_write)
        return self.context

    def __exit__(self, *args):
        _C._pop_write_mode()
        self.hooks.__exit__(*args)
        self.context.active = False
        self.context.clear()


def allow_mutation_on_saved_tensors():
    """Inside the ``with``, tensors saved for backward may be changed in place: the old values are
    copied just before. Backward must run inside, too. The context has ``clear()``."""
    return _AllowMutation()
