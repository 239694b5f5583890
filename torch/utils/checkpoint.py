"""Checkpointing: a part of a model keeps its inputs only and runs again in backward."""

import enum
import threading

import torch
from torch import _C

__all__ = ["checkpoint", "checkpoint_sequential", "CheckpointError", "CheckpointFunction",
           "check_backward_validity", "detach_variable", "get_device_states", "set_device_states",
           "noop_context_fn", "set_checkpoint_early_stop", "DefaultDeviceType",
           "set_checkpoint_debug_enabled", "CheckpointPolicy", "SelectiveCheckpointContext",
           "create_selective_checkpoint_contexts", "SAC_IGNORED_OPS", "GraphExecGroup"]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not do what the first did."""


# ---- what belongs to the surroundings of a run
class DefaultDeviceType:
    """The accelerator whose random state is kept when no tensor says which."""

    _default = "cpu"

    @staticmethod
    def set_device_type(device="cuda"):
        DefaultDeviceType._default = device

    @staticmethod
    def get_device_type():
        return DefaultDeviceType._default


def get_device_states(*args):
    """Numbers and random states of the accelerators that tensors among `args` live on."""
    foreign = {a.device.type for a in args
               if isinstance(a, torch.Tensor) and a.device.type not in ("cpu", "meta")}
    if foreign:
        raise NotImplementedError(
            f"checkpoint: random state of {sorted(foreign)} is not implemented"
        )
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """Put back what :func:`get_device_states` returned."""
    if devices:
        raise NotImplementedError("checkpoint: random state of accelerators is not implemented")


class _Surroundings:
    """Random and autocast state at the first run, put back around the second."""

    def __init__(self, preserve_rng_state):
        self.rng = torch.get_rng_state() if preserve_rng_state else None
        self.autocast = None
        if hasattr(torch, "is_autocast_enabled"):
            self.autocast = (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"),
                             torch.is_autocast_cache_enabled())

    def __enter__(self):
        if self.rng is not None:
            self.outer_rng = torch.get_rng_state()
            torch.set_rng_state(self.rng)
        self.cast = None
        if self.autocast is not None:
            enabled, dtype, cache = self.autocast
            self.cast = torch.amp.autocast("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache)
            self.cast.__enter__()

    def __exit__(self, *error):
        if self.cast is not None:
            self.cast.__exit__(*error)
        if self.rng is not None:
            torch.set_rng_state(self.outer_rng)


def noop_context_fn():
    """Two contexts that do nothing: for the first and for the second run."""
    from contextlib import nullcontext
    return nullcontext(), nullcontext()


# ---- by a backward inside backward
def detach_variable(inputs):
    """A copy of the tuple in which tensors are leaves that ask for what the originals ask for."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ",
                           type(inputs).__name__)
    out = []
    for x in inputs:
        if isinstance(x, torch.Tensor):
            needs = x.requires_grad
            x = x.detach()
            x.requires_grad = needs
        out.append(x)
    return tuple(out)


def check_backward_validity(inputs):
    """Warn when no input needs a gradient: then nothing inside the checkpoint gets one."""
    if not any(x.requires_grad for x in inputs if isinstance(x, torch.Tensor)):
        import warnings
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None",
                      stacklevel=2)


class CheckpointFunction(torch.autograd.Function):
    """Runs without recording; backward runs it again with recording, and backward through that."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state)
        ctx.args = [None if isinstance(a, torch.Tensor) else a for a in args]
        ctx.at = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.at))
        with torch.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if not _C._is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with "
                ".grad() or passing an `inputs` parameter to .backward(). To resolve "
                "this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        args = list(ctx.args)
        for i, t in zip(ctx.at, ctx.saved_tensors):
            args[i] = t
        with ctx.surroundings:
            leaves = detach_variable(tuple(args))
            with torch.enable_grad():
                outputs = ctx.run_function(*leaves)
        if isinstance(outputs, torch.Tensor):
            outputs = (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads)
                 if isinstance(o, torch.Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not "
                               "necessary")
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(x.grad if isinstance(x, torch.Tensor) else None for x in leaves))


# ---- by saved-tensor hooks
_TIP = ("\n\nTip: To see a more detailed error message, either pass `debug=True` to\n"
        "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
        "with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
        "enable checkpoint-debug mode globally.\n")
_early_stop = None
_debug = None


class _Flag:
    """Sets a module variable for the length of a ``with``."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def __enter__(self):
        self.before = globals()[self.name]
        globals()[self.name] = self.value

    def __exit__(self, *error):
        globals()[self.name] = self.before


def set_checkpoint_early_stop(enable):
    """Whether second runs inside the ``with`` may end as soon as all that is needed is there."""
    return _Flag("_early_stop", enable)


def set_checkpoint_debug_enabled(enabled):
    """Whether checkpoints inside the ``with`` report mismatches with all operations."""
    return _Flag("_debug", enabled)


class _Stop(Exception):
    pass


class _Holder:
    """Stands for one saved tensor."""

    __slots__ = ("index", "__weakref__")

    def __init__(self, index):
        self.index = index


def _describe(t):
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


class _Frame:
    """One checkpointed call."""

    def __init__(self, function, surroundings, early_stop, check, recompute_context):
        self.function = function
        self.surroundings = surroundings
        self.early_stop = early_stop
        self.check = check
        self.recompute_context = recompute_context
        self.holders = []      # weak references
        self.described = []
        self.complete = False
        self.recomputed = {}   # backward pass -> {index: tensor}

    def pack(self, tensor):
        import weakref
        holder = _Holder(len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.described.append(_describe(tensor))
        return holder

    def unpack(self, holder):
        group = GraphExecGroup._get_current_group()
        task = _C._current_graph_task_id() if group is None else group
        if task not in self.recomputed:
            self.recomputed[task] = {}
            self.run_again(task)
            if group is None and task != -1:
                torch.autograd.graph.queue_callback(lambda: self.recomputed.pop(task, None))
        values = self.recomputed[task]
        if holder.index not in values:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that "
                "was already unpacked once. If you are calling ctx.saved_tensors in "
                "backward, make sure to do so only once. Otherwise please open an "
                "issue with details on your use case."
            )
        value = values.pop(holder.index)
        if task == -1:
            del self.recomputed[task]
        return value

    def run_again(self, task):
        values, seen = self.recomputed[task], [0]
        wanted = len(self.holders)

        def pack(tensor):
            i = seen[0]
            seen[0] += 1
            if i >= wanted:
                if self.check is not None and not self.early_stop:
                    raise CheckpointError(
                        "torch.utils.checkpoint: trying to save more tensors during "
                        "recomputation than "
                        "during the original forward pass." + _TIP
                    )
            elif self.holders[i]() is not None:
                values[i] = tensor.detach()
                if self.check is not None:
                    self.metadata.append((i, self.check(tensor)))
            if self.early_stop and seen[0] == wanted:
                raise _Stop
            return tensor

        def unpack(tensor):
            return tensor

        self.metadata = []
        try:
            with self.surroundings, self.recompute_context, torch.enable_grad(), \
                    torch.autograd.graph.saved_tensors_hooks(pack, unpack):
                self.function()
        except _Stop:
            pass
        self.verify(seen[0], wanted)

    def verify(self, got, wanted):
        if self.check is None:
            return
        if got < wanted:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved "
                "during the original forward and recomputation.\nNumber of tensors "
                f"saved during forward: {wanted}\nNumber of tensors saved during "
                f"recomputation: {got}." + _TIP
            )
        wrong = [
            f"tensor at position {i}:\nsaved metadata: {self.described[i]}\nrecomputed metadata: "
            f"{now}\n"
            for i, now in self.metadata
            if now != self.described[i]
        ]
        if wrong:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors "
                "have different metadata than during the forward pass.\n"
                + "".join(wrong)
                + "."
                + _TIP
            )


def _run_non_reentrant(function, surroundings, early_stop, check, contexts, args, kwargs):
    first, second = contexts
    frame = _Frame(lambda: function(*args, **kwargs), surroundings, early_stop, check, second)
    with torch.autograd.graph.saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


def _warn_reentrant(where):
    import warnings
    warnings.warn(
        f"torch.utils.checkpoint{where}: the use_reentrant parameter should be passed "
        "explicitly. In a future release, calling checkpoint without use_reentrant will raise "
        "an exception. use_reentrant=False is recommended, but if you need to preserve the "
        "current default behavior, you can pass use_reentrant=True.",
        stacklevel=3,
    )


class _CheckpointedFunction:
    """``checkpoint(use_reentrant=False)(f)``: f, checkpointed at each call."""

    def __init__(self, options):
        self.options = options

    def __call__(self, function):
        from functools import wraps

        @wraps(function)
        def wrapper(*args, **kwargs):
            return checkpoint(function, *args, **self.options, **kwargs)

        return wrapper


def checkpoint(
    function=None,
    *args,
    use_reentrant=None,
    preserve_rng_state=True,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    early_stop=True,
    respect_saved_tensors_hooks=None,
    **kwargs,
):
    """Call `function` so that backward runs it again instead of keeping its activations.

    Args:
        function (callable): what is run; it must do the same each time.
        args: its arguments.
        use_reentrant (bool): True: backward inside backward (tensors must be direct arguments, some
            of them with gradients; no ``autograd.grad``). False (recommended): by hooks of saved
            tensors.
        preserve_rng_state (bool): the second run sees the random numbers of the first.
        context_fn (callable): gives two context managers, for the first and the second run.
        determinism_check (str): ``"default"`` compares the tensors of both runs by shape, dtype and
            device; ``"none"`` does not.
        early_stop (bool): the second run ends as soon as all is there.
        kwargs: keyword arguments of `function`.

    Raises:
        CheckpointError: the second run saved other tensors than the first.
    """
    if function is None:
        return _CheckpointedFunction(
            dict(use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state,
                 context_fn=context_fn, determinism_check=determinism_check, debug=debug,
                 early_stop=early_stop, **kwargs))
    if use_reentrant is None:
        _warn_reentrant("")
        use_reentrant = True
    if use_reentrant:
        if context_fn is not noop_context_fn or debug or respect_saved_tensors_hooks is not None:
            raise ValueError(
                "Passing `context_fn`, `debug`, or `respect_saved_tensors_hooks` is only "
                "supported when use_reentrant=False."
            )
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    checks = {"default": _describe, "none": None}
    if determinism_check not in checks:
        raise ValueError(f"determinism_check should be one of {list(checks)}, but got "
                         f"{determinism_check}")
    if debug or _debug:
        raise NotImplementedError("torch.utils.checkpoint: debug=True is not implemented")
    if not torch.is_grad_enabled():
        with context_fn()[0]:
            return function(*args, **kwargs)
    stop = early_stop if _early_stop is None else _early_stop
    return _run_non_reentrant(function, _Surroundings(preserve_rng_state), stop,
                              checks[determinism_check], context_fn(), args, kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Run a sequence of modules in `segments` parts, all but the last checkpointed.

    Args:
        functions (nn.Sequential or list of callables): run one after the other.
        segments (int): number of parts.
        input (Tensor): argument of the first.
        use_reentrant, preserve_rng_state: as in :func:`checkpoint`.
    """
    if use_reentrant is None:
        _warn_reentrant(".checkpoint_sequential")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if not isinstance(functions, (list, tuple)) and isinstance(functions, torch.nn.Sequential):
        functions = list(functions.children())

    def part(start, end):
        def run(x):
            for f in functions[start:end]:
                x = f(x)
            return x
        return run

    size = len(functions) // segments
    start = 0
    for _ in range(segments - 1):
        input = checkpoint(part(start, start + size), input, use_reentrant=use_reentrant,
                           preserve_rng_state=preserve)
        start += size
    return part(start, len(functions))(input)


# ---- selective checkpointing
def __getattr__(name):
    if name == "CheckpointPolicy":
        import enum
        global CheckpointPolicy
        CheckpointPolicy = enum.Enum("CheckpointPolicy", [
            ("MUST_SAVE", 0), ("PREFER_SAVE", 1), ("MUST_RECOMPUTE", 2), ("PREFER_RECOMPUTE", 3),
            ("MUST_CPU_OFFLOAD", 4), ("PREFER_CPU_OFFLOAD", 5)], module=__name__)
        return CheckpointPolicy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class SelectiveCheckpointContext:
    """What a policy of :func:`create_selective_checkpoint_contexts` is told of a call."""

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute = is_recompute
        self.op_output = op_output


class CheckpointPolicy(enum.Enum):
    """What a policy may say of an operator: keep its result, or run it again; a compiler may
    overrule what is only preferred."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def _ignored_ops():
    """Operators that a policy is not asked about: they only look at a tensor or detach it."""
    names = ("detach.default dim.default is_contiguous.default is_contiguous.memory_format "
             "is_non_overlapping_and_dense.default is_strides_like_format.default numel.default "
             "size.default storage_offset.default stride.default sym_numel.default "
             "sym_size.default sym_storage_offset.default sym_stride.default")
    found = set()
    for name in names.split():
        packet, _, overload = name.partition(".")
        try:
            found.add(getattr(getattr(torch.ops.aten, packet), overload))
        except AttributeError:  # not an operator of this package
            pass
    return found


def __getattr__(name):
    if name == "SAC_IGNORED_OPS":
        globals()[name] = _ignored_ops()
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class GraphExecGroup:
    """Backward passes inside one group run a checkpointed function again only once for all."""

    _current = threading.local()

    def __enter__(self):
        current = self._get_current_group()
        if current is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {current}")
        self._current.group = self
        return self

    def __exit__(self, *args):
        self._current.group = None

    @classmethod
    def _get_current_group(cls):
        return getattr(cls._current, "group", None)


_SAVED = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


def _policy_of(policy_fn_or_list):
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, torch._ops.OpOverload):
                raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of "
                                 f"type {type(op)}.")
        chosen = frozenset(policy_fn_or_list)
        return lambda ctx, op, *args, **kwargs: (
            CheckpointPolicy.MUST_SAVE if op in chosen else CheckpointPolicy.PREFER_RECOMPUTE)
    if callable(policy_fn_or_list):
        return policy_fn_or_list
    raise TypeError("policy_fn_or_list must be either a function or a list of ops.")


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """Contexts for :func:`checkpoint` (`context_fn`) that keep the results of chosen operators.

    Args:
        policy_fn_or_list: operators whose results are kept, or a function
            ``policy(ctx, op, *args, **kwargs)`` that returns a :class:`CheckpointPolicy`, or True
            to keep; `ctx` is a :class:`SelectiveCheckpointContext`.
        allow_cache_entry_mutation (bool): whether kept results may have been changed in place
            before backward; otherwise that raises RuntimeError.

    Returns:
        the context of the first run and that of the second.
    """
    from torch.utils._selective_checkpoint import make_modes

    return make_modes(_policy_of(policy_fn_or_list), allow_cache_entry_mutation)
