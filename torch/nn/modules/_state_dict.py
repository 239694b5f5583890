"""How a Module is saved to and loaded from a dictionary of tensors.

The functions named in METHODS become methods of Module (see module.py).
"""
from __future__ import annotations

import itertools
from collections import OrderedDict, namedtuple

import torch
from torch import Tensor
from torch.nn.parameter import Parameter, is_lazy
from torch.utils.hooks import RemovableHandle

METHODS = (
    "_register_state_dict_hook", "register_state_dict_post_hook",
    "register_state_dict_pre_hook", "_save_to_state_dict", "state_dict",
    "_register_load_state_dict_pre_hook", "register_load_state_dict_pre_hook",
    "register_load_state_dict_post_hook", "_load_from_state_dict", "load_state_dict",
)

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(
        namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """What `load_state_dict` returns: keys that only one of the two sides has."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


_IncompatibleKeys.__module__ = "torch.nn.modules.module"


class _TypeVariable:
    """Stands for the type of the destination in annotations of users."""

    __name__ = "T_destination"

    def __repr__(self):
        return "~T_destination"


T_destination = _TypeVariable()


class _WrappedHook:
    """A load hook that gets its module first; the module is held weakly."""

    def __init__(self, hook, module=None):
        self.hook = hook
        self.with_module = module is not None
        if self.with_module:
            import weakref
            self.module = weakref.ref(module)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(hook, name):
                setattr(self, name, getattr(hook, name))

    def __call__(self, *args, **kwargs):
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self):
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state):
        self.hook = state["hook"]
        self.with_module = state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            import weakref
            self.module = weakref.ref(state["module"])


_WrappedHook.__module__ = "torch.nn.modules.module"  # as files of whole modules name it


def _register_state_dict_hook(self, hook):
    """Call ``hook(module, state_dict, prefix, local_metadata)`` after each `state_dict`."""
    if getattr(hook, "_from_public_api", False):
        raise RuntimeError(
            "Cannot register the same function as the state dict post hook that was "
            "previously registered via register_state_dict_post_hook")
    handle = RemovableHandle(self._state_dict_hooks)
    self._state_dict_hooks[handle.id] = hook
    return handle


def register_state_dict_post_hook(self, hook):
    """As `_register_state_dict_hook`, but the hook must work in place and return None."""
    # The mark tells state_dict that a returned value is a mistake.
    hook._from_public_api = True
    handle = RemovableHandle(self._state_dict_hooks)
    self._state_dict_hooks[handle.id] = hook
    return handle


def register_state_dict_pre_hook(self, hook):
    """Call ``hook(module, prefix, keep_vars)`` before each `state_dict`."""
    handle = RemovableHandle(self._state_dict_pre_hooks)
    self._state_dict_pre_hooks[handle.id] = hook
    return handle


def _has_extra_state(module, method):
    from .module import Module
    return getattr(type(module), method, None) is not getattr(Module, method)


def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
    """Put this module's own parameters and buffers (not its children's) into `destination`."""
    for name, param in self._parameters.items():
        if param is not None:
            destination[prefix + name] = param if keep_vars else param.detach()
    for name, buffer in self._buffers.items():
        if buffer is not None and name not in self._non_persistent_buffers_set:
            destination[prefix + name] = buffer if keep_vars else buffer.detach()
    if _has_extra_state(self, "get_extra_state"):
        destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()


def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
    """A dictionary from path to tensor of all parameters and persistent buffers.

    Args:
        destination (dict, optional): filled and returned instead of a new OrderedDict.
        prefix (str): put before every key.
        keep_vars (bool): whether the tensors stay attached to autograd. Default: ``False``.
    """
    if args:
        import warnings
        warnings.warn(
            "Positional args are being deprecated, use kwargs instead. Refer to "
            "https://pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.state_dict for details.", FutureWarning, stacklevel=2)
        if destination is None:
            destination = args[0]
        if len(args) > 1 and prefix == "":
            prefix = args[1]
        if len(args) > 2 and keep_vars is False:
            keep_vars = args[2]
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local_metadata = dict(version=self._version)
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata
    for hook in self._state_dict_pre_hooks.values():
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, module in self._modules.items():
        if module is not None:
            module.state_dict(destination=destination, prefix=prefix + name + ".",
                              keep_vars=keep_vars)
    for hook in self._state_dict_hooks.values():
        result = hook(self, destination, prefix, local_metadata)
        if not getattr(hook, "_from_public_api", False):
            if result is not None:
                destination = result
        elif result is not None:
            raise RuntimeError("state_dict post-hook must return None")
    return destination


def _register_load_state_dict_pre_hook(self, hook, with_module=False):
    """Call `hook` with the arguments of `_load_from_state_dict` before it runs."""
    handle = RemovableHandle(self._load_state_dict_pre_hooks)
    self._load_state_dict_pre_hooks[handle.id] = _WrappedHook(
        hook, self if with_module else None)
    return handle


def register_load_state_dict_pre_hook(self, hook):
    """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
    unexpected_keys, error_msgs)`` before this module is loaded."""
    return self._register_load_state_dict_pre_hook(hook, with_module=True)


def register_load_state_dict_post_hook(self, hook):
    """Call ``hook(module, incompatible_keys)`` after this module is loaded; it may edit the
    lists in `incompatible_keys` in place and must return None."""
    handle = RemovableHandle(self._load_state_dict_post_hooks)
    self._load_state_dict_post_hooks[handle.id] = hook
    return handle


def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys,
                          unexpected_keys, error_msgs) -> None:
    """Copy this module's own entries of `state_dict` into its parameters and buffers.

    Problems are appended to the three lists; nothing is raised here.
    """
    for hook in self._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
             error_msgs)
    persistent = {name: buffer for name, buffer in self._buffers.items()
                  if name not in self._non_persistent_buffers_set}
    assign = local_metadata.get("assign_to_params_buffers", False)
    for name, param in itertools.chain(self._parameters.items(), persistent.items()):
        if param is None:
            continue
        key = prefix + name
        if key in state_dict:
            message = _load_tensor(self, name, param, key, state_dict[key], assign)
            if message is not None:
                error_msgs.append(message)
        elif strict:
            missing_keys.append(key)
    extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
    if _has_extra_state(self, "set_extra_state"):
        if extra_key in state_dict:
            self.set_extra_state(state_dict[extra_key])
        elif strict:
            missing_keys.append(extra_key)
    elif strict and extra_key in state_dict:
        unexpected_keys.append(extra_key)
    if strict:
        _find_unexpected(self, state_dict, prefix, extra_key, persistent, unexpected_keys)


def _find_unexpected(module, state_dict, prefix, extra_key, persistent, unexpected_keys):
    for key in state_dict:
        if key.startswith(prefix) and key != extra_key:
            name, _, rest = key[len(prefix):].partition(".")
            # A dotted key belongs to a child; one without a dot must be a tensor of ours.
            dotted = len(key) > len(prefix) + len(name)
            if dotted and name not in module._modules:
                unexpected_keys.append(key)
            elif not dotted and name not in persistent and name not in module._parameters:
                unexpected_keys.append(key)


def _load_tensor(module, name, param, key, value, assign):
    """Load one tensor; returns what went wrong, or None."""
    if not (isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")):
        return (f'While copying the parameter named "{key}", expected torch.Tensor or '
                f"Tensor-like object from checkpoint but received {type(value)}")
    lazy = is_lazy(param)
    # Checkpoints of very old versions kept scalars as tensors of one element.
    if not lazy and param.dim() == 0 and value.dim() == 1 and len(value.shape) == 1 \
            and value.shape[0] == 1:
        value = value[0]
    if not lazy and value.shape != param.shape:
        return (f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {param.shape}.")
    if param.is_meta and not value.is_meta and not assign:
        import warnings
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
            "parameter in the current model, which is a no-op. (Did you mean to pass "
            "`assign=True` to assign items in the state dictionary to their corresponding "
            "key in the module instead of copying them in place?)", stacklevel=2)
    try:
        with torch.no_grad():
            if assign:
                _assign_tensor(module, name, param, value)
            else:
                param.copy_(value)
    except Exception as error:  # reported with all other problems by load_state_dict
        shape = param.size()
        return (f'While copying the parameter named "{key}", whose dimensions in the model '
                f"are {shape} and whose dimensions in the checkpoint are {value.size()}, an "
                f"exception occurred : {error.args}.")
    return None


def _assign_tensor(module, name, param, value):
    if isinstance(param, Parameter):
        if not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=param.requires_grad)
        else:
            value.requires_grad_(param.requires_grad)
    setattr(module, name, value)


def _load_tree(module, state_dict, prefix, metadata, assign, report):
    """Load a module and its descendants; `report` is (missing, unexpected, errors)."""
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = assign
    # Missing keys are always collected; a non-strict call only does not raise on them.
    module._load_from_state_dict(state_dict, prefix, local_metadata, True, *report)
    for name, child in module._modules.items():
        if child is not None:
            path = prefix + name + "."
            own = {key: value for key, value in state_dict.items() if key.startswith(path)}
            _load_tree(child, own, path, metadata, assign, report)
    incompatible = _IncompatibleKeys(*report[:2])
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, incompatible) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected "
                "to return new values, if incompatible_keys need to be modified, it should be "
                "done inplace.")


def load_state_dict(self, state_dict, strict=True, assign=False):
    """Copy parameters and buffers from `state_dict` into this module and its descendants.

    Args:
        state_dict (dict): from path to tensor.
        strict (bool): whether the keys must match exactly. Default: ``True``.
        assign (bool): whether the module takes over the tensors of `state_dict` instead of
            copying their values. Default: ``False``.

    Returns:
        a named tuple of the lists ``missing_keys`` and ``unexpected_keys``.

    Raises:
        RuntimeError: lists everything that did not fit.
    """
    from collections.abc import Mapping
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing_keys, unexpected_keys, error_msgs = [], [], []
    metadata = getattr(state_dict, "_metadata", None)
    # Hooks may edit the dictionary: the caller's stays as it is.
    state_dict = OrderedDict(state_dict)
    if metadata is not None:
        state_dict._metadata = metadata

    report = (missing_keys, unexpected_keys, error_msgs)
    _load_tree(self, state_dict, "", metadata, assign, report)
    if strict:
        _insert_key_report(error_msgs, "Unexpected", unexpected_keys)
        _insert_key_report(error_msgs, "Missing", missing_keys)
    if error_msgs:
        listed = "\n\t".join(error_msgs)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
    return _IncompatibleKeys(missing_keys, unexpected_keys)


def _insert_key_report(error_msgs, kind, keys):
    if keys:
        listed = ", ".join(f'"{key}"' for key in keys)
        error_msgs.insert(0, f"{kind} key(s) in state_dict: {listed}. ")
