"""The base class of all optimizers: parameter groups, state, hooks, state_dict."""
import typing
import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy

import torch
from torch.utils.hooks import RemovableHandle

ParamsT = typing.Union[typing.Iterable[torch.Tensor], typing.Iterable[typing.Dict[str, typing.Any]],
                       typing.Iterable[typing.Tuple[str, torch.Tensor]]]

__all__ = ["Optimizer", "register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"]

_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()

_HOOK_TABLES = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks",
)


class _RequiredParameter:
    """Marks an option without a default value."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()


def _get_value(x):
    return x.item() if isinstance(x, torch.Tensor) else x


def _to_scalar(x):
    """A tensor of one element as a 0-dim tensor, so that it never broadcasts a parameter."""
    if isinstance(x, torch.Tensor) and x.dim() != 0:
        return x.squeeze()
    return x


def _get_scalar_dtype(is_fused=None):
    """The dtype of `step` tensors: float64 only where that is the default dtype."""
    if is_fused:
        return torch.float32
    return torch.float64 if torch.get_default_dtype() == torch.float64 else torch.float32


def _view_as_real(params, *state_and_grads):
    """Replaces, inside the lists, complex tensors by their views as pairs of real numbers."""
    for i, p in enumerate(params):
        if torch.is_complex(p):
            params[i] = torch.view_as_real(p)
            for items in state_and_grads:
                if i < len(items) and items[i] is not None:
                    items[i] = torch.view_as_real(items[i])


def _use_grad_for_differentiable(func):
    """Runs a step with gradients recorded only if the optimizer is differentiable."""
    is_enabled, set_enabled = torch.is_grad_enabled, torch._C._set_grad_enabled

    def _use_grad(self, *args, **kwargs):
        before = is_enabled()
        set_enabled(self.defaults["differentiable"])
        try:
            return func(self, *args, **kwargs)
        finally:
            set_enabled(before)

    return _like(_use_grad, func)


def _no_grad_step(func):
    """Runs a step without recording gradients."""
    is_enabled, set_enabled = torch.is_grad_enabled, torch._C._set_grad_enabled

    def step(*args, **kwargs):
        before = is_enabled()
        set_enabled(False)
        try:
            return func(*args, **kwargs)
        finally:
            set_enabled(before)

    return _like(step, func)


def _fusable(params, grads):
    """Whether the fused steps of the CPU can take these lists."""
    return torch._C._fused_accepts(params, grads)


def _like(wrapper, func):
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(wrapper, name, getattr(func, name))
    wrapper.__wrapped__ = func
    return wrapper


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """The choice that `fused=None, foreach=None` makes: (fused, foreach). On the CPU neither."""
    return False, False


def _closure_loss(closure):
    if closure is None:
        return None
    with torch.enable_grad():
        return closure()


def _check_capturable(capturable, params, what="params and state_steps", *, foreach=None,
                      differentiable=False, supports_xla=True, foreach_xla=False):
    """Graph capture needs a device that has it; no device of this build does.

    Steps over lists of tensors (`foreach`) are not recorded by autograd.
    """
    if foreach and differentiable and params:
        raise AssertionError("_foreach ops don't support autograd")
    if capturable and params:
        raise AssertionError(
            f"If capturable=True, {what} must be on supported devices: "
            f"{_get_capturable_supported_devices(foreach_xla if foreach else supports_xla)}.")


def _get_capturable_supported_devices(supports_xla=True):
    return ["cuda", "xpu", "hpu", "privateuseone"] + (["xla"] if supports_xla else [])


def _get_foreach_kernels_supported_devices():
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices():
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def register_optimizer_step_pre_hook(hook):
    """Calls ``hook(optimizer, args, kwargs)`` before the step of every optimizer.

    Returns a handle with ``remove()``.
    """
    handle = RemovableHandle(_global_optimizer_pre_hooks)
    _global_optimizer_pre_hooks[handle.id] = hook
    return handle


def register_optimizer_step_post_hook(hook):
    """Calls ``hook(optimizer, args, kwargs)`` after the step of every optimizer.

    Returns a handle with ``remove()``.
    """
    handle = RemovableHandle(_global_optimizer_post_hooks)
    _global_optimizer_post_hooks[handle.id] = hook
    return handle


def _split_names(params, group):
    """Separates ``(name, tensor)`` pairs; the names go to ``group["param_names"]``."""
    tensors, names = [], []
    for param in params:
        if isinstance(param, tuple):
            names.append(param[0])
            tensors.append(param[1])
        else:
            tensors.append(param)
    if names:
        if len(names) != len(tensors):
            raise ValueError("all optimizer params should be with/without names. "
                             "Some param names are missing")
        group["param_names"] = names
    return tensors


class Optimizer:
    r"""Base of all optimizers.

    Args:
        params: an iterable of tensors, of ``(name, tensor)`` pairs or of dicts (parameter groups).
        defaults: options of a group that does not give its own.

    Raises:
        TypeError: ``params`` is one tensor, or has items that are no tensors.
        ValueError: no parameters, a tensor in two groups, or one that is not a leaf.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for table in _HOOK_TABLES:
            setattr(self, table, OrderedDict())
        self._patch_step_function()
        if isinstance(params, torch.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of "
                            f"Tensors or dicts, but got {torch.typename(params)}")
        if isinstance(params, set):
            warnings.warn(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list "
                "instead. This will be an error in a future release.",
                FutureWarning, stacklevel=3)
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        # Kept for files and programs that look at it.
        self._warned_capturable_if_run_uncaptured = True

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for table in _HOOK_TABLES:
            if table not in self.__dict__:
                setattr(self, table, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        lines = [self.__class__.__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            if i:
                lines.append("")
            lines.append(f"Parameter Group {i}")
            lines.extend(f"    {key}: {group[key]}" for key in sorted(group) if key != "params")
        return "\n".join(lines) + "\n)"

    @staticmethod
    def profile_hook_step(func):
        """Wraps a step function so that it runs the hooks."""

        def wrapper(*args, **kwargs):
            self = args[0]
            if (self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks
                    or _global_optimizer_pre_hooks or _global_optimizer_post_hooks):
                return _step_with_hooks(func, self, args, kwargs)
            return func(*args, **kwargs)

        return _like(wrapper, func)

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
        """Splits parallel lists by the device and dtype of the first list's tensors."""
        groups = {}
        for i, first in enumerate(tensorlistlist[0]):
            key = (first.device, first.dtype)
            lists, indices = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
            for into, items in zip(lists, tensorlistlist):
                if items:
                    into.append(items[i])
            indices.append(i)
        return groups

    def _patch_step_function(self):
        name = self.__class__.__name__
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{name}.zero_grad"
        step = self.__class__.step
        if not getattr(step, "hooked", None):
            step = self.profile_hook_step(step)
            step.hooked = True
            self.__class__.step = step

    def _cuda_graph_capture_health_check(self):
        """Nothing to check: there is no graph capture on this build's devices."""

    _accelerator_graph_capture_health_check = _cuda_graph_capture_health_check

    def _register(self, table, hook, prepend=False):
        handle = RemovableHandle(table)
        table[handle.id] = hook
        if prepend:
            table.move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook):
        r"""Calls ``hook(optimizer, args, kwargs)`` before each step.

        A hook may return new ``(args, kwargs)``. Returns a handle with ``remove()``.
        """
        return self._register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        r"""Calls ``hook(optimizer, args, kwargs)`` after each step."""
        return self._register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        r"""Calls ``hook(optimizer)`` before :meth:`state_dict`."""
        return self._register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        r"""Calls ``hook(optimizer, state_dict)``; what it returns, if not None, is used instead."""
        return self._register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        r"""Calls ``hook(optimizer, state_dict)`` before loading; it may return another dict."""
        return self._register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        r"""Calls ``hook(optimizer)`` after :meth:`load_state_dict`."""
        return self._register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self):
        r"""The state as plain containers: ``{"state": ..., "param_groups": ...}``.

        Parameters are numbered in the order of the groups, and the numbers stand for them.
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers, groups = {}, []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for p in group["params"]:
                if id(p) not in numbers:
                    numbers[id(p)] = len(numbers)
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(key)] if isinstance(key, torch.Tensor) else key: value
                 for key, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, result)
            if replaced is not None:
                result = replaced
        return result

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        """A loaded tensor in the dtype and on the device it must have beside its parameter."""
        fused = capturable = False
        for group in param_groups:
            if param_id in group["params"]:
                fused = group.get("fused", False)
                capturable = group.get("capturable", False)
                break
        if key == "step":
            if capturable or fused:
                return value.to(dtype=torch.float32, device=param.device)
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)

    def load_state_dict(self, state_dict):
        r"""Takes over what :meth:`state_dict` returned (of this or an equal optimizer).

        Raises:
            ValueError: the groups differ in number or in their numbers of parameters.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        saved = deepcopy(state_dict["param_groups"])
        _check_same_groups(self.param_groups, saved)
        params = {}
        for mine, theirs in zip(self.param_groups, saved):
            params.update(zip(theirs["params"], mine["params"]))
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = self._cast_state(params[key], value, key, saved, None)
            else:
                state[key] = value
        groups = []
        for mine, theirs in zip(self.param_groups, saved):
            theirs["params"] = mine["params"]
            if "param_names" in mine and "param_names" not in theirs:
                theirs["param_names"] = mine["param_names"]
            groups.append(theirs)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _cast_state(self, param, value, param_id, groups, key):
        if isinstance(value, torch.Tensor):
            return self._process_value_according_to_param_policy(
                param, value, param_id, groups, key)
        if isinstance(value, dict):
            return {k: self._cast_state(param, v, param_id, groups, k) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            cast = [self._cast_state(param, v, param_id, groups, None) for v in value]
            return type(value)(cast)
        return value

    def zero_grad(self, set_to_none=True):
        r"""Forgets the gradients, or with ``set_to_none=False`` fills them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad
                if grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                    continue
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    def step(self, closure=None):
        r"""Updates the parameters; ``closure`` evaluates the model again and returns the loss."""
        raise NotImplementedError

    def add_param_group(self, param_group):
        r"""Adds a dict with ``"params"`` and the options that differ from the defaults.

        Raises:
            TypeError: not a dict, or parameters that are a set or no tensors.
            ValueError: a parameter that is no leaf or is in another group already, or names
                for only some of the parameters.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, torch.Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, "
                            "but the ordering of tensors in sets will change between runs. "
                            "Please use a list instead.")
        params = param_group["params"] = _split_names(params, param_group)
        self._check_params(params)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError("parameter group didn't specify a value of required "
                                 f"optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len({id(p) for p in params}):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, "
                "this will cause an error; see github.com/pytorch/pytorch/issues/40967 for "
                "more information", stacklevel=3)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if self.param_groups:
            self._check_names(param_group)
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _check_params(self, params):
        differentiable = self.defaults.get("differentiable", None)
        for p in params:
            if not isinstance(p, torch.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is "
                                + torch.typename(p))
            if not differentiable and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")

    def _check_names(self, group):
        named = "param_names" in group
        if named != ("param_names" in self.param_groups[0]):
            raise ValueError("all optimizer param groups should be with/without names. cannot "
                             f"add param group {'with' if named else 'without'} names to the "
                             "optimizer")


def _check_same_groups(mine, saved):
    if len(mine) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(a["params"]) != len(b["params"]) for a, b in zip(mine, saved)):
        raise ValueError("loaded state dict contains a parameter group that doesn't match the "
                         "size of optimizer's group")


def _step_with_hooks(func, self, args, kwargs):
    for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
        result = hook(self, args, kwargs)
        if result is None:
            continue
        if not isinstance(result, tuple) or len(result) != 2:
            raise RuntimeError(f"{func} must return None or a tuple of (new_args, new_kwargs), "
                               f"but got {result}.")
        args, kwargs = result
    out = func(*args, **kwargs)
    for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
        hook(self, args, kwargs)
    return out


def _check_option(ok, what, value):
    if not ok:
        raise ValueError(f"Invalid {what}: {value}")


def _check_lr_tensor(lr):
    if isinstance(lr, torch.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def _check_common(lr, eps, weight_decay, betas=None):
    _check_lr_tensor(lr)
    _check_option(0.0 <= lr, "learning rate", lr)
    _check_option(0.0 <= eps, "epsilon value", eps)
    for i, beta in enumerate(betas or ()):
        _check_option(0.0 <= beta < 1.0, f"beta parameter at index {i}", beta)
    _check_option(0.0 <= weight_decay, "weight_decay value", weight_decay)


def _check_fused(optimizer, fused, foreach, differentiable):
    if not fused:
        return
    if differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    optimizer._step_supports_amp_scaling = True


def _gather(optimizer, group, keys, new_state, lists, allow_sparse=False):
    """Fills the lists params, grads and one of each state in `keys`; makes missing states.

    Returns whether a parameter is complex and whether a gradient is sparse.
    """
    params, grads, *states = lists
    has_complex = has_sparse = False
    for p in group["params"]:
        grad = p.grad
        if grad is None:
            continue
        if grad.is_sparse:
            if not allow_sparse:
                raise RuntimeError(
                    f"{type(optimizer).__name__} does not support sparse gradients")
            has_sparse = True
        if p.is_complex():
            has_complex = True
        state = optimizer.state[p]
        if not state:
            state.update(new_state(p, group))
        params.append(p)
        grads.append(grad)
        for key, into in zip(keys, states):
            into.append(state[key])
    return has_complex, has_sparse


def _new_step(fused=None):
    return torch.zeros((), dtype=_get_scalar_dtype(fused))


def _zeros_like(p):
    return torch.zeros_like(p, memory_format=torch.preserve_format)


def _real_lists(has_complex, *lists):
    """Copies of the lists with complex tensors seen as pairs of real numbers."""
    if not has_complex:
        return lists
    lists = [list(items) for items in lists]
    for items in lists:
        items[:] = [torch.view_as_real(t) if torch.is_complex(t) else t for t in items]
    return lists


def _set_defaults(optimizer, **options):
    """Options that groups from older files lack."""
    for group in optimizer.param_groups:
        for name, value in options.items():
            group.setdefault(name, value)


def _state_to_tensors(optimizer, *names, fused=False):
    """Older files keep counters as numbers."""
    for group in optimizer.param_groups:
        dtype = _get_scalar_dtype(group.get("fused") if fused else None)
        for p in group["params"]:
            state = optimizer.state.get(p)
            if not state:
                continue
            for name in names:
                if not isinstance(state[name], torch.Tensor):
                    state[name] = torch.tensor(float(state[name]), dtype=dtype)


def _check_steps(state_steps):
    tensor = torch.Tensor
    for t in state_steps:
        if not isinstance(t, tensor):
            raise RuntimeError("API has changed, `state_steps` argument must contain a list of "
                               "singleton tensors")
