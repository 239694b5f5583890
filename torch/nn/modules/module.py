"""Module: the base class of every layer and model.

Calling and hooks live in `_hooks.py`, checkpoints in `_state_dict.py`; this file has what a
module owns (parameters, buffers, children), how it is walked and how it is moved.
"""
from __future__ import annotations

import sys

import torch
from torch import Tensor
from torch.nn.parameter import Buffer, Parameter

from . import _hooks, _state_dict
from ._hooks import (
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_buffer_registration_hooks,
    _global_forward_hooks,
    _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state_dict import _EXTRA_STATE_KEY_SUFFIX, _IncompatibleKeys, _WrappedHook

__all__ = [
    "register_module_forward_pre_hook",
    "register_module_forward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_backward_hook",
    "register_module_full_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
    "Module",
]

# Devices whose dense tensors can swap their storage in place (`param.data = moved`).
_DENSE_DEVICES = frozenset(("cpu", "cuda", "xpu", "mps", "hip", "hpu"))


# Attribute reads and calls as slots of the type, where the extension has them.
_adopt = getattr(torch._C, "_nn_module_adopt", lambda cls: None)


def _addindent(text, spaces):
    first, *rest = text.split("\n")
    if not rest:
        return text
    pad = " " * spaces
    return "\n".join([first, *(pad + line for line in rest)])


def _same_kind(old, new):
    """Whether `old.data = new` is possible: both dense, on devices of the same kind."""
    a, b = old.device.type, new.device.type
    if old.layout != new.layout:
        return False
    return a == b or (a in _DENSE_DEVICES and b in _DENSE_DEVICES)


def _forward_unimplemented(self, *input):
    """What the module computes; every subclass defines its own.

    Call the module itself rather than this method: the call also runs the hooks.
    """
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function')


def _check_new_name(module, kind, name, owner):
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {torch.typename(name)}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if hasattr(module, name) and name not in owner:
        raise KeyError(f"attribute '{name}' already exists")


def _run_module_registration(module, name, child):
    for hook in _global_module_registration_hooks.values():
        output = hook(module, name, child)
        if output is not None:
            child = output
    return child


def _get_member(module, target):
    prefix, _, name = target.rpartition(".")
    owner = module.get_submodule(prefix)
    if not hasattr(owner, name):
        raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
    return owner, name, getattr(owner, name)


def _set_buffer(module, name, value):
    """Assign a Buffer, or anything to a name that is a buffer already."""
    if isinstance(value, Tensor) and isinstance(value, Buffer):
        module.register_buffer(name, value, value.persistent)
        return
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(f"cannot assign '{torch.typename(value)}' as buffer '{name}' "
                        "(torch.nn.Buffer, torch.Tensor or None expected)")
    for hook in _global_buffer_registration_hooks.values():
        output = hook(module, name, value)
        if output is not None:
            value = output
    module._buffers[name] = value


def _forget(module, name, *owners):
    """Drop `name` wherever else it lives before it is registered anew."""
    state = module.__dict__
    state.pop(name, None)
    for key in owners:
        state[key].pop(name, None) if key in state else None
    if "_non_persistent_buffers_set" in state:
        state["_non_persistent_buffers_set"].discard(name)


def _apply_to_parameter(module, fn, key, param):
    # Optimizers hold the Parameter object: it is kept wherever the new values fit into it.
    with torch.no_grad():
        applied = fn(param)
    future = sys.modules.get("torch.__future__")
    keep = _same_kind(param, applied) and not (
        future is not None and future.get_overwrite_module_params_on_conversion())
    grad = param.grad
    if keep:
        param.data = applied
        target = param
    else:
        target = Parameter(applied, param.requires_grad)
        module._parameters[key] = target
    if grad is None:
        return
    with torch.no_grad():
        grad_applied = fn(grad)
    if keep and _same_kind(grad, grad_applied):
        grad.data = grad_applied
        target.grad = grad
    else:
        target.grad = grad_applied.requires_grad_(grad.requires_grad)


def _warn_complex():
    import warnings
    warnings.warn(
        "Complex modules are a new feature under active development whose design may "
        "change, and some modules might not work as expected when using complex tensors "
        "as parameters or buffers.", stacklevel=3)


class Module:
    """Base class of all neural-network modules.

    Assigning a :class:`Parameter`, a :class:`Buffer` or another ``Module`` as an attribute
    registers it, so that it is found by ``parameters()``, moved by ``to()`` and saved by
    ``state_dict()``. Subclasses define ``forward`` and call ``super().__init__()`` first.
    """

    dump_patches = False
    _version = 1  # of the layout of state_dict
    training: bool
    call_super_init = False
    _compiled_call_impl = None

    def __init__(self, *args, **kwargs) -> None:
        if self.call_super_init is False and bool(kwargs):
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                f"'{next(iter(kwargs))}'")
        if self.call_super_init is False and bool(args):
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but "
                f"{len(args) + 1} were given")
        # Written straight to the dict: __setattr__ needs these very entries.
        state = self.__dict__
        state["training"] = True
        state["_parameters"] = {}
        state["_buffers"] = {}
        state["_non_persistent_buffers_set"] = set()
        _hooks.init_hook_state(state)
        state["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _adopt(cls)

    forward = _forward_unimplemented

    # --- registration --------------------------------------------------------------------

    def register_buffer(self, name, tensor, persistent=True) -> None:
        """Add a tensor that is state but not trained, such as a running mean.

        Args:
            name (str): attribute under which it is found.
            tensor (Tensor or None): the buffer; None leaves a slot out of ``state_dict``.
            persistent (bool): whether ``state_dict`` contains it. Default: ``True``.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_new_name(self, "buffer", name, self._buffers)
        if tensor is not None and not (isinstance(tensor, Tensor)
                                       or hasattr(tensor, "__torch_function__")):
            raise TypeError(f"cannot assign '{torch.typename(tensor)}' object to buffer "
                            f"'{name}' (torch Tensor or None required)")
        for hook in _global_buffer_registration_hooks.values():
            output = hook(self, name, tensor)
            if output is not None:
                tensor = output
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param) -> None:
        """Add a :class:`Parameter` (or an empty slot, None) under `name`."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_new_name(self, "parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{torch.typename(param)}' object to parameter "
                            f"'{name}' (torch.nn.Parameter or None required)")
        if param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                f"be created explicitly. To express '{name}' as a function of another Tensor, "
                "compute the value in the forward() method.")
        for hook in _global_parameter_registration_hooks.values():
            output = hook(self, name, param)
            if output is not None:
                param = output
        self._parameters[name] = param

    def add_module(self, name, module) -> None:
        """Add `module` (or an empty slot, None) as the child `name`."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{torch.typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {torch.typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = _run_module_registration(self, name, module)

    def register_module(self, name, module) -> None:
        """Another name of :func:`add_module`."""
        self.add_module(name, module)

    # --- lookup by dotted path -------------------------------------------------------------

    def get_submodule(self, target):
        """The descendant at the dotted path `target`; the module itself for ``""``."""
        module = self
        if target == "":
            return module
        for item in target.split("."):
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, Module):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False) -> None:
        """Put `module` at the dotted path `target`.

        Args:
            target (str): path of the child; all of it but the last name must exist.
            module (Module): the new child.
            strict (bool): whether there must already be a module at `target`.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        prefix, _, name = target.rpartition(".")
        parent = self.get_submodule(prefix)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        """The parameter at the dotted path `target`, or AttributeError."""
        _, name, param = _get_member(self, target)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target):
        """The buffer at the dotted path `target`, or AttributeError."""
        owner, name, buffer = _get_member(self, target)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def get_extra_state(self):
        """Override to put more than tensors into ``state_dict`` (with `set_extra_state`)."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state) -> None:
        """Override to read back what `get_extra_state` returned."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called.")

    # --- attributes ------------------------------------------------------------------------

    def __getattr__(self, name):
        state = self.__dict__
        try:
            owned = state["_parameters"]
            if name in owned:
                return owned[name]
            owned = state["_modules"]
            if name in owned:
                return owned[name]
            owned = state["_buffers"]
            if name in owned:
                return owned[name]
        except KeyError:  # before __init__, or a module unpickled without its state
            for key in ("_parameters", "_buffers", "_modules"):
                if name in state.get(key, ()):
                    return state[key][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value) -> None:
        state = self.__dict__
        params = state.get("_parameters")
        # Plain values are told apart by Tensor first: Parameter's check is a slow Python call.
        if isinstance(value, Tensor) and isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _forget(self, name, "_buffers", "_modules")
            self.register_parameter(name, value)
            return
        if params is not None and name in params:
            if value is not None:
                raise TypeError(f"cannot assign '{torch.typename(value)}' as parameter "
                                f"'{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, value)
            return
        modules = state.get("_modules")
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _forget(self, name, "_parameters", "_buffers")
            modules[name] = _run_module_registration(self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(f"cannot assign '{torch.typename(value)}' as child module "
                                f"'{name}' (torch.nn.Module or None expected)")
            modules[name] = _run_module_registration(self, name, value)
        else:
            buffers = state.get("_buffers")
            if (buffers is not None and name in buffers) or (
                    isinstance(value, Tensor) and isinstance(value, Buffer)):
                _set_buffer(self, name, value)
            else:
                super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self):
        keys = (dir(type(self)) + list(self.__dict__) + list(self._parameters)
                + list(self._modules) + list(self._buffers))
        # Names that are no identifiers (children "0", "1", ...) only clutter completion.
        return sorted(key for key in set(keys) if not key[0].isdigit())

    # --- moving and converting ---------------------------------------------------------------

    def _apply(self, fn, recurse=True):
        """Replace every parameter, gradient and buffer by ``fn`` of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for key, param in self._parameters.items():
            if param is not None:
                _apply_to_parameter(self, fn, key, param)
        for key, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[key] = fn(buffer)
        return self

    def apply(self, fn):
        """Call ``fn(module)`` on every descendant, children first, then on self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def cuda(self, device=None):
        """Move all parameters and buffers to the GPU, in place."""
        return self._apply(lambda t: t.cuda(device))

    def ipu(self, device=None):
        """Move all parameters and buffers to an IPU, in place."""
        return self._apply(lambda t: t.ipu(device))

    def xpu(self, device=None):
        """Move all parameters and buffers to an XPU, in place."""
        return self._apply(lambda t: t.xpu(device))

    def mtia(self, device=None):
        """Move all parameters and buffers to an MTIA device, in place."""
        return self._apply(lambda t: t.mtia(device))

    def cpu(self):
        """Move all parameters and buffers to the CPU, in place."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type):
        """Cast all parameters and buffers, integers too, to `dst_type`."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Cast floating-point parameters and buffers to ``float32``."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        """Cast floating-point parameters and buffers to ``float64``."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        """Cast floating-point parameters and buffers to ``float16``."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        """Cast floating-point parameters and buffers to ``bfloat16``."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def to_empty(self, *, device, recurse=True):
        """Move to `device` without the values: new storage is left uninitialized."""
        return self._apply(lambda t: torch.empty_like(t, device=device), recurse=recurse)

    def to(self, *args, **kwargs):
        """Move or cast all parameters and buffers, in place.

        ``to(device=None, dtype=None, non_blocking=False)``, ``to(dtype)``, ``to(tensor)``,
        ``to(memory_format=...)``. Integer tensors keep their dtype; `dtype` must be floating
        point or complex, or TypeError is raised.
        """
        device, dtype, non_blocking, fmt = torch._C._nn._parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError("nn.Module.to only accepts floating point or complex dtypes, "
                                f"but got desired dtype={dtype}")
            if dtype.is_complex:
                _warn_complex()

        def convert(t):
            cast = dtype if t.is_floating_point() or t.is_complex() else None
            try:
                if fmt is not None and t.dim() in (4, 5):
                    return t.to(device, cast, non_blocking, memory_format=fmt)
                return t.to(device, cast, non_blocking)
            except NotImplementedError as error:
                if str(error) == "Cannot copy out of meta tensor; no data!":
                    raise NotImplementedError(
                        f"{error} Please use torch.nn.Module.to_empty() instead of "
                        "torch.nn.Module.to() when moving module from meta to a different "
                        "device.") from None
                raise

        return self._apply(convert)

    def share_memory(self):
        """Move all parameters and buffers to shared memory, in place."""
        return self._apply(lambda t: t.share_memory_())

    # --- call and hooks -----------------------------------------------------------------------

    register_full_backward_pre_hook = _hooks.register_full_backward_pre_hook
    register_backward_hook = _hooks.register_backward_hook
    register_full_backward_hook = _hooks.register_full_backward_hook
    register_forward_pre_hook = _hooks.register_forward_pre_hook
    register_forward_hook = _hooks.register_forward_hook
    _get_backward_hooks = _hooks._get_backward_hooks
    _get_backward_pre_hooks = _hooks._get_backward_pre_hooks
    _maybe_warn_non_full_backward_hook = _hooks._maybe_warn_non_full_backward_hook
    _slow_forward = _hooks._slow_forward
    _call_impl = _hooks._call_impl
    _wrapped_call_impl = _hooks._wrapped_call_impl
    __call__ = _hooks._wrapped_call_impl

    def compile(self, *args, **kwargs) -> None:
        """Compile what a call of this module runs; arguments are those of torch.compile."""
        self._compiled_call_impl = torch.compile(self._call_impl, *args, **kwargs)

    # --- checkpoints --------------------------------------------------------------------------

    T_destination = _state_dict.T_destination
    _register_state_dict_hook = _state_dict._register_state_dict_hook
    register_state_dict_post_hook = _state_dict.register_state_dict_post_hook
    register_state_dict_pre_hook = _state_dict.register_state_dict_pre_hook
    _save_to_state_dict = _state_dict._save_to_state_dict
    state_dict = _state_dict.state_dict
    _register_load_state_dict_pre_hook = _state_dict._register_load_state_dict_pre_hook
    register_load_state_dict_pre_hook = _state_dict.register_load_state_dict_pre_hook
    register_load_state_dict_post_hook = _state_dict.register_load_state_dict_post_hook
    _load_from_state_dict = _state_dict._load_from_state_dict
    load_state_dict = _state_dict.load_state_dict

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        # Modules pickled by older versions lack the newer kinds of hooks.
        _hooks.init_missing_hook_state(self.__dict__)

    # --- walking ------------------------------------------------------------------------------

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        """Yield (path, member) of what ``get_members_fn(module)`` lists, each object once."""
        seen = set()
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        else:
            modules = ((prefix, self),)
        for path, module in modules:
            for key, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield path + ("." if path else "") + key, value

    def parameters(self, recurse=True):
        """Iterate over the parameters, shared ones once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Iterate over (path, parameter).

        Args:
            prefix (str): put before every path.
            recurse (bool): whether descendants are included.
            remove_duplicate (bool): whether a shared parameter is yielded once only.
        """
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix=prefix, recurse=recurse,
            remove_duplicate=remove_duplicate)

    def buffers(self, recurse=True):
        """Iterate over the buffers, shared ones once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Iterate over (path, buffer); arguments as for `named_parameters`."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix=prefix, recurse=recurse,
            remove_duplicate=remove_duplicate)

    def children(self):
        """Iterate over the direct children, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self):
        """Iterate over (name, module) of the direct children, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate=True):
        """Iterate over this module and all descendants, each once."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Iterate over (path, module), self first.

        Args:
            memo (set, optional): modules already seen; added to.
            prefix (str): put before every path.
            remove_duplicate (bool): whether a shared module is yielded once only.
        """
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = prefix + ("." if prefix else "") + name
                yield from module.named_modules(memo, path, remove_duplicate)

    # --- modes --------------------------------------------------------------------------------

    def train(self, mode=True):
        """Set the training mode of the module and all descendants."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """The same as ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Set whether gradients are recorded for all parameters."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        if getattr(self, "_is_replica", False):
            import warnings
            warnings.warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no "
                "effect. The parameters are copied (in a differentiable manner) from the "
                "original module. This means they are not leaf nodes in autograd and so "
                "don't accumulate gradients. If you need gradients in your forward method, "
                "consider using autograd.grad instead.", stacklevel=2)
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()

    # --- text ---------------------------------------------------------------------------------

    def _get_name(self):
        return self.__class__.__name__

    def extra_repr(self) -> str:
        """Override to say more about the module than its name in ``repr``."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_addindent(repr(module), 2)}"
                    for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            body = lines[0]
        elif lines or children:
            body = "\n  " + "\n  ".join(lines + children) + "\n"
        else:
            body = ""
        return f"{self._get_name()}({body})"

    def _replicate_for_data_parallel(self):
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        # Replicas hold plain tensors: their parameters are outputs of a broadcast.
        replica._parameters = {}
        replica._buffers = replica._buffers.copy()
        replica._modules = replica._modules.copy()
        replica._is_replica = True
        return replica


for _part in (_hooks, _state_dict):
    for _name in _part.METHODS:
        _function = getattr(_part, _name)
        _function.__module__ = __name__
        _function.__qualname__ = "Module." + _name

if hasattr(torch._C, "_nn_module_setup"):
    torch._C._nn_module_setup(Module, _global_forward_hooks, _global_forward_pre_hooks,
                              _global_backward_hooks, _global_backward_pre_hooks)
