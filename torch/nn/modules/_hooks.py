"""What happens when a module is called: hooks around forward and backward.

The functions named in METHODS become methods of Module (see module.py). Hooks that apply to
every module of the process are registered by the `register_module_*` functions.
"""
from __future__ import annotations

from collections import OrderedDict

from torch import Tensor
from torch.utils.hooks import BackwardHook, RemovableHandle

METHODS = (
    "register_full_backward_pre_hook", "register_backward_hook",
    "register_full_backward_hook", "register_forward_pre_hook", "register_forward_hook",
    "_get_backward_hooks", "_get_backward_pre_hooks", "_maybe_warn_non_full_backward_hook",
    "_slow_forward", "_call_impl", "_wrapped_call_impl",
)

# Hooks of one module, in the order in which they stand in its __dict__.
_HOOK_STATE = (
    "_backward_pre_hooks", "_backward_hooks", "_is_full_backward_hook", "_forward_hooks",
    "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs", "_state_dict_hooks", "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)

_global_buffer_registration_hooks = OrderedDict()
_global_module_registration_hooks = OrderedDict()
_global_parameter_registration_hooks = OrderedDict()
_global_backward_pre_hooks = OrderedDict()
_global_backward_hooks = OrderedDict()
_global_is_full_backward_hook = None
_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_global_forward_hooks_always_called = OrderedDict()
_global_forward_hooks_with_kwargs = OrderedDict()


def init_hook_state(state):
    """Give a new module, by its __dict__, its empty sets of hooks."""
    for key in _HOOK_STATE:
        state[key] = None if key == "_is_full_backward_hook" else OrderedDict()


def init_missing_hook_state(state):
    """The same for a module pickled by a version that lacked some kinds of hooks."""
    for key in _HOOK_STATE:
        if key not in state:
            state[key] = None if key == "_is_full_backward_hook" else OrderedDict()
    state.setdefault("_non_persistent_buffers_set", set())


def _add(hooks, hook, prepend=False, flags=()):
    """Put `hook` into `hooks`, and its id into each dictionary of `flags`."""
    handle = RemovableHandle(hooks, extra_dict=list(flags))
    hooks[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


# --- hooks of all modules ---------------------------------------------------------------------

def register_module_buffer_registration_hook(hook):
    """Call ``hook(module, name, buffer)`` at every buffer registration; it may replace it."""
    return _add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Call ``hook(module, name, submodule)`` when a child is set; it may replace the child."""
    return _add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Call ``hook(module, name, param)`` when a parameter is set; it may replace it."""
    return _add(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook):
    """Call ``hook(module, args)`` before every module's own pre-hooks."""
    return _add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call ``hook(module, args, output)`` before every module's own forward hooks."""
    flags = []
    if with_kwargs:
        flags.append(_global_forward_hooks_with_kwargs)
    if always_call:
        flags.append(_global_forward_hooks_always_called)
    return _add(_global_forward_hooks, hook, flags=flags)


def _set_global_kind(full):
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as "
                           "a global Module hook. Please use only one of them.")
    _global_is_full_backward_hook = full


def register_module_backward_hook(hook):
    """Call ``hook(module, grad_input, grad_output)`` in the old, imprecise way."""
    _set_global_kind(False)
    return _add(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook):
    """Call ``hook(module, grad_output)`` before the gradients of every module."""
    return _add(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Call ``hook(module, grad_input, grad_output)`` after the gradients of every module."""
    _set_global_kind(True)
    return _add(_global_backward_hooks, hook)


# --- hooks of one module ----------------------------------------------------------------------

def register_full_backward_pre_hook(self, hook, prepend=False):
    """Call ``hook(module, grad_output)`` before the gradients of this module are computed.

    The hook may return a new `grad_output`. Returns a handle with ``remove()``.
    """
    return _add(self._backward_pre_hooks, hook, prepend)


def _set_kind(module, full):
    if module._is_full_backward_hook is (not full):
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on "
                           "a single Module. Please use only one of them.")
    module._is_full_backward_hook = full


def register_backward_hook(self, hook):
    """Deprecated; its `grad_input` may be that of the last operation only.

    Use :func:`register_full_backward_hook`.
    """
    _set_kind(self, False)
    return _add(self._backward_hooks, hook)


def register_full_backward_hook(self, hook, prepend=False):
    """Call ``hook(module, grad_input, grad_output)`` once the input gradients are known.

    The hook may return a new `grad_input`. Entries are None for what is no tensor. Inputs and
    outputs must not be modified in place. Returns a handle with ``remove()``.
    """
    _set_kind(self, True)
    return _add(self._backward_hooks, hook, prepend)


def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
    """Call ``hook(module, args)`` before ``forward``; it may return new arguments.

    Args:
        prepend (bool): whether it runs before the hooks registered so far.
        with_kwargs (bool): whether it is called, and answers, with ``(args, kwargs)``.
    """
    flags = [self._forward_pre_hooks_with_kwargs] if with_kwargs else ()
    return _add(self._forward_pre_hooks, hook, prepend, flags)


def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False,
                          always_call=False):
    """Call ``hook(module, args, output)`` after ``forward``; it may return a new output.

    Args:
        prepend (bool): whether it runs before the hooks registered so far.
        with_kwargs (bool): whether it is called as ``hook(module, args, kwargs, output)``.
        always_call (bool): whether it also runs, with None, when the call raises.
    """
    flags = []
    if with_kwargs:
        flags.append(self._forward_hooks_with_kwargs)
    if always_call:
        flags.append(self._forward_hooks_always_called)
    return _add(self._forward_hooks, hook, prepend, flags)


def _get_backward_hooks(self):
    """(full hooks, old-style hooks) that apply to this module, global ones first."""
    full, non_full = [], []
    if _global_is_full_backward_hook is not None:
        (full if _global_is_full_backward_hook else non_full).extend(
            _global_backward_hooks.values())
    if self._is_full_backward_hook is not None:
        (full if self._is_full_backward_hook else non_full).extend(
            self._backward_hooks.values())
    return full, non_full


def _get_backward_pre_hooks(self):
    return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]


# --- the call -----------------------------------------------------------------------------------

def _slow_forward(self, *input, **kwargs):
    return self.forward(*input, **kwargs)


def _wrapped_call_impl(self, *args, **kwargs):
    if self._compiled_call_impl is not None:
        return self._compiled_call_impl(*args, **kwargs)
    return self._call_impl(*args, **kwargs)


def _call_impl(self, *args, **kwargs):
    if not (self._backward_hooks or self._backward_pre_hooks or self._forward_hooks
            or self._forward_pre_hooks or _global_backward_pre_hooks
            or _global_backward_hooks or _global_forward_hooks or _global_forward_pre_hooks):
        return self.forward(*args, **kwargs)
    called = set()
    try:
        return _call_with_hooks(self, args, kwargs, called)
    except Exception:
        _run_always_called(self, args, kwargs, called)
        raise


def _call_with_hooks(module, args, kwargs, called):
    args, kwargs = _run_forward_pre_hooks(module, args, kwargs)
    full, non_full, pre = [], [], []
    if module._backward_hooks or _global_backward_hooks:
        full, non_full = module._get_backward_hooks()
    if module._backward_pre_hooks or _global_backward_pre_hooks:
        pre = module._get_backward_pre_hooks()
    backward = None
    if full or pre:
        backward = BackwardHook(module, full, pre)
        args = backward.setup_input_hook(args)
    result = module.forward(*args, **kwargs)
    result = _run_forward_hooks(module, args, kwargs, result, called)
    if backward is not None:
        if not isinstance(result, (Tensor, tuple)):
            import warnings
            warnings.warn("For backward hooks to be called, module output should be a Tensor "
                          f"or a tuple of Tensors but received {type(result)}", stacklevel=4)
        result = backward.setup_output_hook(result)
    if non_full:
        _attach_non_full(module, args, result, non_full)
    return result


def _run_forward_pre_hooks(module, args, kwargs):
    hooks = [*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()]
    for hook_id, hook in hooks:
        if hook_id in module._forward_pre_hooks_with_kwargs:
            answer = hook(module, args, kwargs)
            if answer is not None:
                if not (isinstance(answer, tuple) and len(answer) == 2):
                    raise RuntimeError("forward pre-hook must return None or a tuple of "
                                       f"(new_args, new_kwargs), but got {answer}.")
                args, kwargs = answer
        else:
            answer = hook(module, args)
            if answer is not None:
                args = answer if isinstance(answer, tuple) else (answer,)
    return args, kwargs


def _run_forward_hooks(module, args, kwargs, result, called):
    hooks = [*_global_forward_hooks.items(), *module._forward_hooks.items()]
    for hook_id, hook in hooks:
        if (hook_id in module._forward_hooks_always_called
                or hook_id in _global_forward_hooks_always_called):
            called.add(hook_id)
        if (hook_id in module._forward_hooks_with_kwargs
                or hook_id in _global_forward_hooks_with_kwargs):
            answer = hook(module, args, kwargs, result)
        else:
            answer = hook(module, args, result)
        if answer is not None:
            result = answer
    return result


def _run_always_called(module, args, kwargs, called):
    """After an exception, run the `always_call` hooks that have not run yet."""
    sources = (
        ("global module", _global_forward_hooks, _global_forward_hooks_always_called,
         _global_forward_hooks_with_kwargs),
        ("module", module._forward_hooks, module._forward_hooks_always_called,
         module._forward_hooks_with_kwargs))
    for what, hooks, always, with_kwargs in sources:
        for hook_id, hook in hooks.items():
            if hook_id not in always or hook_id in called:
                continue
            try:
                if hook_id in with_kwargs:
                    hook(module, args, kwargs, None)
                else:
                    hook(module, args, None)
            except Exception as error:
                import warnings
                warnings.warn(
                    f"{what} forward hook with ``always_call=True`` raised an exception that "
                    "was silenced as another error was raised in forward: " + str(error),
                    stacklevel=4)


# --- backward hooks of the old kind -------------------------------------------------------------

def _attach_non_full(module, args, result, hooks):
    """Hang old-style hooks on the node that made the first tensor of `result`."""
    var = result
    while not isinstance(var, Tensor):
        if isinstance(var, dict):
            var = next(v for v in var.values() if isinstance(v, Tensor))
        else:
            var = var[0]
    grad_fn = var.grad_fn
    if grad_fn is None:
        return
    from ._state_dict import _WrappedHook
    for hook in hooks:
        grad_fn.register_hook(_WrappedHook(hook, module))
    module._maybe_warn_non_full_backward_hook(args, result, grad_fn)


def _tensors_of(value):
    """The tensors of a tensor or a tuple of tensors; None for anything else."""
    if isinstance(value, Tensor):
        return (value,)
    if isinstance(value, tuple) and all(isinstance(item, Tensor) for item in value):
        return value
    return None


def _maybe_warn_non_full_backward_hook(self, inputs, result, grad_fn) -> None:
    """Warn where an old-style hook does not see all the gradients."""
    advice = "Please use register_full_backward_hook to get the documented behavior."
    outputs, tensors = _tensors_of(result), _tensors_of(inputs)
    if outputs is None:
        message = ("Using non-full backward hooks on a Module that does not return a single "
                   "Tensor or a tuple of Tensors is deprecated and will be removed in future "
                   "versions. This hook will be missing some of the grad_output. ")
    elif tensors is None:
        message = ("Using non-full backward hooks on a Module that does not take as input a "
                   "single Tensor or a tuple of Tensors is deprecated and will be removed in "
                   "future versions. This hook will be missing some of the grad_input. ")
    else:
        nodes = {out.grad_fn for out in outputs if out.grad_fn is not None}
        before = {t.grad_fn for t in tensors if t.grad_fn is not None}
        following = {fn for fn, _ in grad_fn.next_functions}
        if len(outputs) > 1 and len(nodes) > 1:
            message = ("Using a non-full backward hook when outputs are generated by different "
                       "autograd Nodes is deprecated and will be removed in future versions. "
                       "This hook will be missing some grad_output. ")
        elif before != following:
            message = ("Using a non-full backward hook when the forward contains multiple "
                       "autograd Nodes is deprecated and will be removed in future versions. "
                       "This hook will be missing some grad_input. ")
        else:
            return
    import warnings
    warnings.warn(message + advice, FutureWarning, stacklevel=3)
