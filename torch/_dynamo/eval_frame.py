"""`torch.compile` as far as it goes: backends by name, compiled functions and modules."""

import functools
import inspect

import torch
from torch._dynamo.exc import InvalidBackend

_KNOWN = ("cudagraphs", "inductor", "openxla", "tvm")
_DEBUG = ("aot_eager", "aot_eager_decomp_partition", "eager", "eager_noexcept")
_RUNNABLE = ("eager", "eager_noexcept")
_registered = {}


def list_backends(exclude_tags=("debug", "experimental")):
    """Names of backends. Of these only the eager ones run."""
    names = set(_KNOWN) | set(_registered)
    if not exclude_tags or "debug" not in exclude_tags:
        names |= set(_DEBUG)
    return sorted(names)


def register_backend(compiler_fn=None, name=None, tags=()):
    """Makes a function a backend of a name. Also a decorator."""
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    if not callable(compiler_fn):
        raise AssertionError("compiler_fn must be callable")
    name = name or compiler_fn.__name__
    if name in _registered:
        raise AssertionError(f"duplicate name: {name}")
    _registered[name] = compiler_fn
    return compiler_fn


def lookup_backend(compiler_fn):
    """The function of a backend; InvalidBackend for an unknown name."""
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn in _registered:
        return _registered[compiler_fn]
    if compiler_fn in _RUNNABLE:
        return _eager
    if compiler_fn in _KNOWN + _DEBUG:
        return functools.partial(_missing_backend, compiler_fn)
    raise InvalidBackend(name=compiler_fn)


def _eager(gm, fake_tensor_inputs=None, **kwargs):
    return gm.forward if isinstance(gm, torch.nn.Module) else gm


def _missing_backend(name, *args, **kwargs):
    raise NotImplementedError(f"torch.compile with backend={name!r} is not implemented")


def _runner(fn, backend):
    """What a compiled `fn` runs: itself for the eager backends, else an error."""
    if isinstance(backend, str) and backend in _RUNNABLE:
        return fn
    if not isinstance(backend, str) or backend in _registered:
        backend = getattr(backend, "__name__", backend)

    def not_there(*args, **kwargs):
        raise NotImplementedError(f"torch.compile with backend={backend!r} is not implemented")

    return not_there


class OptimizedModule(torch.nn.Module):
    """A module given to `torch.compile`. The original is ``_orig_mod``; attributes are its."""

    _opt_mod_attributes = {"_orig_mod", "dynamo_ctx", "_forward", "forward", "named_children_walk",
                           "_super_module_initialized", "training"}

    def __init__(self, mod, dynamo_ctx=None):
        super().__init__()
        self._modules["_orig_mod"] = mod
        self.__dict__["dynamo_ctx"] = dynamo_ctx
        self.__dict__["_runner"] = dynamo_ctx(mod) if dynamo_ctx else mod
        self.__dict__.pop("training", None)

    def __call__(self, *args, **kwargs):
        return self._runner(*args, **kwargs)

    def forward(self, *args, **kwargs):
        return self._runner(*args, **kwargs)

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, value):
        if "_orig_mod" in self.__dict__.get("_modules", ()):
            self._orig_mod.training = value

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self.__dict__["_modules"]["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name in ("training", "dynamo_ctx", "_runner") or "_modules" not in self.__dict__ or (
            "_orig_mod" not in self.__dict__["_modules"]
        ):
            return object.__setattr__(self, name, value)
        if name == "_orig_mod":
            self._modules["_orig_mod"] = value
            return None
        return setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __dir__(self):
        return sorted(set(dir(self._orig_mod)) | set(super().__dir__()))

    def __len__(self):
        return len(self._orig_mod)

    def __reduce__(self):
        return type(self), (self._orig_mod, self.dynamo_ctx)


def innermost_fn(fn, unaltered_fn_attr="_torchdynamo_orig_callable"):
    """The function that was given to `torch.compile` first."""
    while hasattr(fn, unaltered_fn_attr):
        fn = getattr(fn, unaltered_fn_attr)
    return fn


class _Optimize:
    """Turns functions and modules into compiled ones with one backend."""

    def __init__(self, backend):
        self.backend = backend

    def __call__(self, fn):
        if isinstance(fn, torch.nn.Module):
            return OptimizedModule(fn, _Run(self.backend))
        if not callable(fn):
            raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")
        if inspect.isclass(fn):
            fn.__call__ = self(fn.__call__)
            return fn
        fn = innermost_fn(fn)
        run = _runner(fn, self.backend)

        @functools.wraps(fn)
        def compiled(*args, **kwargs):
            return run(*args, **kwargs)

        compiled._torchdynamo_orig_callable = fn
        compiled._torchdynamo_wrapper_id = id(compiled)
        return compiled


class _Run:
    """Picklable: from a module to what runs it."""

    def __init__(self, backend):
        self.backend = backend

    def __call__(self, mod):
        return _runner(mod, self.backend)


def optimize(backend="inductor", *, nopython=False, error_on_graph_break=None, guard_export_fn=None,
             guard_fail_fn=None, guard_filter_fn=None, disable=False, dynamic=None, package=None,
             recompile_limit=None, isolate_recompiles=False):
    """A decorator that compiles functions and modules with a backend."""
    if disable:
        return lambda fn: fn
    lookup_backend(backend)
    return _Optimize(backend)


def optimize_assert(backend, **kwargs):
    """`optimize` that would not allow breaks of the graph."""
    return optimize(backend, nopython=True)


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None,
            options=None, disable=False, **others):
    """See `torch.compile`."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified "
                           "at the same time.")
    if disable:
        return model if model is not None else (lambda fn: fn)
    decorate = optimize(backend, nopython=fullgraph, dynamic=dynamic)
    return decorate if model is None else decorate(model)


def is_dynamo_supported():
    """Is there a compiler? Not yet."""
    return False


is_inductor_supported = is_dynamo_supported
cached_backends = {}


def remove_from_cache(f):
    """Forgets compiled code of `f`: there is none."""
