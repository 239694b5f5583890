"""Handles of registered hooks, and the hooks around a module's backward."""
from __future__ import annotations

import weakref
from collections import OrderedDict

import torch
from torch import Tensor

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks", "BackwardHook"]


class RemovableHandle:
    """Removes its hook again; also usable in a ``with`` statement.

    Args:
        hooks_dict (OrderedDict): where the hook stands under ``handle.id``; held weakly.
        extra_dict (OrderedDict or list of them): further places of the same id.
    """

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        if extra_dict is None:
            extra_dict = ()
        elif isinstance(extra_dict, dict):
            extra_dict = (extra_dict,)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra_dict)

    def remove(self) -> None:
        """Take the hook out; nothing happens when it is gone already."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        if not self.extra_dict_ref:
            return (self.hooks_dict_ref(), self.id)
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state):
        # A dictionary that died before pickling is replaced by an empty one.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if state[0] is None else state[0])
        self.id = state[1]
        extra = state[2] if len(state) > 2 and state[2] is not None else ()
        self.extra_dict_ref = tuple(
            weakref.ref(OrderedDict() if d is None else d) for d in extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb) -> None:
        self.remove()


def unserializable_hook(f):
    """Mark a hook of a tensor so that pickling the tensor warns about losing it."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor) -> None:
    """Warn that the backward hooks of `tensor` are not pickled, unless marked so."""
    hooks = getattr(tensor, "_backward_hooks", None)
    if not hooks:
        return
    for hook in hooks.values():
        if not hasattr(hook, "__torch_unserializable__"):
            import warnings
            warnings.warn(f"backward hook {repr(hook)} on tensor will not be serialized.  If "
                          "this is expected, you can decorate the function with "
                          "@torch.utils.hooks.unserializable_hook to suppress this warning",
                          stacklevel=2)


def _identity_function():
    """The autograd Function that marks where a module begins and ends."""
    from torch.nn.modules._functions import BackwardHookFunction
    return BackwardHookFunction


class BackwardHook:
    """Calls a module's backward hooks with the gradients at its inputs and outputs.

    An identity node before the inputs learns grad_input, one after the outputs grad_output.

    Args:
        module (Module): first argument of every hook.
        user_hooks (list): called as ``hook(module, grad_input, grad_output)``.
        user_pre_hooks (list): called as ``hook(module, grad_output)``.
    """

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs = None
        self.n_outputs = -1
        self.output_tensors_index = None
        self.n_inputs = -1
        self.input_tensors_index = None

    @staticmethod
    def _spread(index, values, length):
        """Put the gradients of the tensors at `index` into a tuple with None elsewhere."""
        full = [None] * length
        for position, value in zip(index, values):
            full[position] = value
        return tuple(full)

    @staticmethod
    def _check_count(kind, name, got, expected):
        if len(got) != expected:
            raise RuntimeError(f"{kind} hook returned an invalid number of {name}, got "
                               f"{len(got)}, but expected {expected}")

    def _call_user_hooks(self, grad_inputs, length):
        for hook in self.user_hooks:
            answer = hook(self.module, grad_inputs, self.grad_outputs)
            if answer is None:
                continue
            self._check_count("Backward", "grad_input", answer, length)
            grad_inputs = answer
        return grad_inputs

    def _through_identity(self, attach, args):
        """`args` with its tensors led through an identity node, and where they stand."""
        index = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        tensors = [args[i] for i in index]
        if not (torch.is_grad_enabled() and any(t.requires_grad for t in tensors)):
            return args, None
        outputs = _identity_function().apply(*tensors)
        if not isinstance(outputs, tuple):
            outputs = (outputs,)
        nodes = [t.grad_fn for t in outputs if t.grad_fn is not None]
        if not nodes:
            raise RuntimeError("Error while setting up backward hooks. Please open an issue "
                               "with code to reproduce this.")
        attach(nodes[0])
        replaced = list(args)
        for position, value in zip(index, outputs):
            replaced[position] = value
        # Named tuples keep their class.
        if type(args) is tuple:
            return tuple(replaced), index
        return type(args)(*replaced), index

    def setup_input_hook(self, args):
        """Watch the tensors of the tuple `args`; returns what to call forward with."""
        args, self.input_tensors_index = self._through_identity(
            lambda node: node.register_hook(self._on_grad_input), args)
        self.n_inputs = len(args)
        return args

    def _on_grad_input(self, grad_input, grad_output):
        if self.grad_outputs is None:
            # The gradient did not come through the module's output, as in a double backward.
            return None
        grads = self._spread(self.input_tensors_index, grad_input, self.n_inputs)
        grads = self._call_user_hooks(grads, self.n_inputs)
        self.grad_outputs = None
        return tuple(grads[i] for i in self.input_tensors_index)

    def setup_output_hook(self, args):
        """Watch the tensor, or the tensors of the tuple, `args`; returns it replaced."""
        single = not isinstance(args, tuple)
        if single:
            args = (args,)
        args, self.output_tensors_index = self._through_identity(
            lambda node: node.register_prehook(self._on_grad_output), args)
        self.n_outputs = len(args)
        return args[0] if single else args

    @staticmethod
    def _warn_no_inputs():
        import warnings
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/"
            "generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for "
            "more details.", stacklevel=4)

    def _on_grad_output(self, grad_output):
        self.grad_outputs = self._spread(self.output_tensors_index, grad_output,
                                         self.n_outputs)
        if self.user_pre_hooks:
            for hook in self.user_pre_hooks:
                answer = hook(self.module, self.grad_outputs)
                if answer is None:
                    continue
                self._check_count("Backward pre", "grad_output", answer, self.n_outputs)
                self.grad_outputs = answer
        local = self.grad_outputs
        # Without a differentiable input no input node will ever be reached.
        if self.input_tensors_index is None:
            if self.user_hooks:
                self._warn_no_inputs()
            answer = self._call_user_hooks((None,) * self.n_inputs, self.n_inputs)
            if any(value is not None for value in answer):
                raise RuntimeError("Backward hook for Modules where no input requires gradient "
                                   "should always return None or None for all gradients.")
            self.grad_outputs = None
        if local is not None:
            return tuple(local[i] for i in self.output_tensors_index)
        return None
