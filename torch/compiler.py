"""What programs ask of the compiler. Nothing is compiled in this build: questions are answered so,
marks on functions change nothing, and what would compile raises NotImplementedError.
"""

__all__ = [
    "compile", "config", "assume_constant_result", "reset", "allow_in_graph", "substitute_in_graph",
    "list_backends", "disable", "set_stance", "set_enable_guard_collectives",
    "cudagraph_mark_step_begin", "cudagraph_mark_warmup_incomplete", "load_compiled_function",
    "wrap_numpy", "is_compiling", "is_dynamo_compiling", "is_exporting", "save_cache_artifacts",
    "load_cache_artifacts", "keep_portable_guards_unsafe", "keep_tensor_guards_unsafe",
    "skip_guard_on_inbuilt_nn_modules_unsafe", "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe", "skip_all_guards_unsafe", "nested_compile_region",
    "nonstrict_trace", "get_default_backend", "set_default_backend", "precompile",
    "PrecompileError",
]

_default_backend = "inductor"


class PrecompileError(RuntimeError):
    """A function that cannot be compiled ahead of time."""


class config:
    """Settings of the compiler, remembered."""

    job_id = None
    dynamic_sources = ""
    force_disable_caches = False


def compile(*args, **kwargs):
    """See `torch.compile`."""
    import torch

    return torch.compile(*args, **kwargs)


def is_compiling():
    """Is the running code being traced by a compiler? No."""
    return False


def is_dynamo_compiling():
    return False


def is_exporting():
    return False


def reset():
    """Forgets compiled code: there is none."""


def list_backends(exclude_tags=("debug", "experimental")):
    """Names for ``torch.compile(backend=)``; ``"eager"`` runs functions as they are."""
    return [] if exclude_tags and "debug" in exclude_tags else ["eager"]


def get_default_backend():
    return _default_backend


def set_default_backend(backend):
    global _default_backend
    _default_backend = backend


# ---------------------------------------------------------------- marks on functions


def disable(fn=None, recursive=True, *, reason=None):
    """The function is not to be compiled; it never is."""
    return fn if fn is not None else (lambda f: f)


def allow_in_graph(fn):
    """A compiler may take calls of the function as they are. Returns it (or the list)."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(f) for f in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn):
    """A compiler may assume that the function always returns the same."""
    return fn


def nonstrict_trace(traceable_fn):
    return traceable_fn


def nested_compile_region(fn=None, *, options=None, max_reuse_entries=8, reuse_hash_fn=None):
    return fn if fn is not None else (lambda f: f)


def substitute_in_graph(original_fn, *, can_constant_fold_through=False,
                        skip_signature_check=False):
    """The decorated function stands for `original_fn` when compiling."""
    return lambda traceable_fn: traceable_fn


def wrap_numpy(fn):
    """The NumPy function `fn` for tensors: arguments become arrays, arrays tensors again."""
    import functools

    import torch
    from torch.utils._pytree import tree_map

    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        import numpy

        args, kwargs = tree_map(
            lambda x: x.numpy() if isinstance(x, torch.Tensor) else x, (args, kwargs)
        )
        return tree_map(
            lambda x: torch.as_tensor(x) if isinstance(x, (numpy.ndarray, numpy.generic)) else x,
            fn(*args, **kwargs),
        )

    return wrapped


# ---------------------------------------------------------------- settings and caches


class set_stance:
    """How compiled functions behave: context manager, decorator or plain call."""

    _stances = ("default", "fail_on_recompile", "eager_on_recompile", "force_eager",
                "eager_then_compile", "aot_eager_then_compile")

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in self._stances:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return False

    def __call__(self, fn):
        return fn


def set_enable_guard_collectives(enabled):
    """Returns the old setting: False."""
    return False


def cudagraph_mark_step_begin():
    """A new iteration begins."""


def cudagraph_mark_warmup_incomplete():
    """Nothing is recorded."""


def save_cache_artifacts():
    """None: nothing is cached."""
    return None


def load_cache_artifacts(serialized_artifacts):
    return None


def keep_portable_guards_unsafe(guard_entries):
    return [True] * len(guard_entries)


def keep_tensor_guards_unsafe(guard_entries, keep_parameters=False):
    return [True] * len(guard_entries)


skip_guard_on_inbuilt_nn_modules_unsafe = skip_guard_on_all_nn_modules_unsafe = (
    keep_portable_guards_unsafe)
skip_guard_on_globals_unsafe = keep_portable_guards_unsafe


def skip_all_guards_unsafe(guard_entries):
    return [False] * len(guard_entries)


def load_compiled_function(file, *, f_globals=None, external_data=None):
    raise NotImplementedError("torch.compiler.load_compiled_function is not implemented")


def precompile(*args, **kwargs):
    raise NotImplementedError("torch.compiler.precompile is not implemented")
