"""`ModuleTracker`: which modules the code that runs now is inside of."""

import weakref

import torch
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context manager that knows the names of the modules being run, forward and backward.

    `parents` holds them, "Global" among them; `is_bw` tells whether a backward pass runs.
    """

    def __init__(self):
        self.parents = {"Global"}
        self._names = weakref.WeakKeyDictionary()
        self._seen_roots = weakref.WeakSet()
        self._callback_set = False

    @property
    def is_bw(self):
        return torch._C._current_graph_task_id() != -1

    def _get_mod_name(self, module):
        if module not in self._names:
            # A module that no other has named is the root of names.
            self._names[module] = type(module).__name__
        name = self._names[module]
        if module not in self._seen_roots:
            for child_name, child in module.named_children():
                self._names.setdefault(child, f"{name}.{child_name}")
            self._seen_roots.add(module)
        return name

    def _enter(self, name):
        def enter(*args):
            if self.is_bw and not self._callback_set:
                torch.autograd.Variable._execution_engine.queue_callback(self._backward_done)
                self._callback_set = True
            self.parents.add(name)

        return enter

    def _leave(self, name):
        def leave(*args):
            self.parents.discard(name)

        return leave

    def _backward_done(self):
        self.parents = {"Global"}
        self._callback_set = False

    @staticmethod
    def _differentiable(values):
        from torch.utils._pytree import tree_leaves

        return [t for t in tree_leaves(values) if isinstance(t, torch.Tensor) and t.requires_grad]

    def _before(self, module, inputs):
        name = self._get_mod_name(module)
        self._enter(name)()
        tensors = self._differentiable(inputs)
        if tensors:  # their gradients are the last thing of the module's backward pass
            self._hooks.append(torch.autograd.graph.register_multi_grad_hook(
                tensors, self._leave(name)))

    def _after(self, module, inputs, output):
        name = self._get_mod_name(module)
        self._leave(name)()
        tensors = self._differentiable(output)
        if tensors:
            self._hooks.append(torch.autograd.graph.register_multi_grad_hook(
                tensors, self._enter(name), mode="any"))

    def __enter__(self):
        self._hooks = []
        self._handles = [register_module_forward_pre_hook(self._before),
                         register_module_forward_hook(self._after, always_call=True)]
        return self

    def __exit__(self, *args):
        for handle in self._handles + self._hooks:
            handle.remove()
