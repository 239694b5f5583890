"""`__torch_function__`: classes and modes that take over functions of this package."""

import functools
from contextlib import contextmanager

import torch
from torch._C import (
    _disabled_torch_function_impl,  # noqa: F401
    _get_function_stack_at,
    _has_torch_function as has_torch_function,
    _has_torch_function_unary as has_torch_function_unary,
    _has_torch_function_variadic as has_torch_function_variadic,
    _is_torch_function_enabled,  # noqa: F401
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)

__all__ = [
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "resolve_name", "is_tensor_like",
    "is_tensor_method_or_property", "wrap_torch_function", "enable_reentrant_dispatch",
    "TorchFunctionMode", "BaseTorchFunctionMode", "redispatch_function",
]


def _get_overloaded_args(relevant_args, get_type_fn=type):
    """The arguments that override, subclasses before the classes they derive from."""
    if not torch._C._is_torch_function_enabled():
        return []
    types, args = [], []
    for arg in relevant_args:
        kind = get_type_fn(arg)
        if kind in types or not hasattr(kind, "__torch_function__"):
            continue
        if kind.__torch_function__ is _disabled_torch_function_impl:
            continue
        at = len(args)
        for i, other in enumerate(args):
            if issubclass(kind, get_type_fn(other)):
                at = i
                break
        args.insert(at, arg)
        types.append(kind)
    return args


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Asks modes, then the overriding arguments in turn, to do ``public_api(*args, **kwargs)``.

    Raises TypeError when all of them return NotImplemented.
    """
    overloaded = _get_overloaded_args(relevant_args)
    types = tuple(map(type, overloaded))
    if _is_torch_function_mode_enabled():
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}" if hasattr(
        public_api, "__name__"
    ) else str(public_api)
    message = f"no implementation found for '{name}' on types that implement " \
              f"__torch_function__: {list(map(type, overloaded))}"
    if _is_torch_function_mode_enabled():
        message += f" nor in mode {_get_current_function_mode()}"
    raise TypeError(message)


def wrap_torch_function(dispatcher):
    """Makes a Python function overridable; ``dispatcher(*args)`` gives the arguments to look at."""

    def decorate(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp):
    """A tensor, or an object whose class has ``__torch_function__``?"""
    return type(inp) is torch.Tensor or hasattr(inp, "__torch_function__")


# ---------------------------------------------------------------- modes


class TorchFunctionMode:
    """Takes over every function of this package inside a ``with`` block.

    Subclasses define ``__torch_function__(self, func, types, args=(), kwargs=None)``; inside it the
    mode is off.
    """

    inner: "TorchFunctionMode"

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _is_torch_function_mode_enabled():
    return _len_torch_function_stack() > 0 and not torch._C._is_torch_function_all_disabled()


def _get_current_function_mode():
    n = _len_torch_function_stack()
    return _get_function_stack_at(n - 1) if n else None


def _get_current_function_mode_stack():
    return [_get_function_stack_at(i) for i in range(_len_torch_function_stack())]


def _push_mode(mode):
    _push_on_torch_function_stack(mode)


def _pop_mode():
    return _pop_torch_function_stack()


@contextmanager
def _pop_mode_temporarily():
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


class _EnableTorchFunction:
    def __enter__(self):
        self._saved = torch._C._set_torch_function_disabled(0)

    def __exit__(self, *exc):
        torch._C._set_torch_function_disabled(self._saved)


_enable_torch_function = _EnableTorchFunction


@contextmanager
def enable_reentrant_dispatch():
    yield


def redispatch_function(func, types, args, kwargs=None):
    """Runs `func` once more with the overrides of subclasses off."""
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


# ---------------------------------------------------------------- what can be overridden

_NAMESPACES = ("torch", "torch.functional", "torch.nn.functional", "torch.nn.init", "torch.Tensor",
               "torch.linalg", "torch.fft", "torch.special", "torch.foreach")

# Public functions that never look at `__torch_function__`: they take no tensor, or make one.
_IGNORED = {
    "torch": """arange are_deterministic_algorithms_enabled as_strided as_tensor asarray
    autocast_decrement_nesting autocast_increment_nesting bartlett_window blackman_window can_cast
    clear_autocast_cache compile cond cudnn_affine_grid_generator cudnn_batch_norm
    cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu
    cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable device dtype empty
    empty_permuted empty_quantized empty_strided enable_grad export eye fill finfo fork from_file
    from_numpy frombuffer full get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
    get_autocast_ipu_dtype get_autocast_xla_dtype get_default_device get_default_dtype
    get_deterministic_debug_mode get_device_module get_float32_matmul_precision
    get_num_interop_threads get_num_threads get_rng_state hamming_window hann_window iinfo
    import_ir_module import_ir_module_from_buffer inference_mode init_num_threads initial_seed
    is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled
    is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled is_autocast_xla_enabled
    is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled
    is_storage is_tensor is_vulkan_available is_warn_always_enabled kaiser_window layout linspace
    load logspace manual_seed memory_format merge_type_from_type_comment miopen_ctc_loss
    mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d
    mkldnn_max_pool3d mkldnn_rnn_layer no_grad normal ones parse_ir parse_schema
    parse_type_comment promote_types qscheme rand rand_like randint randint_like randn randn_like
    randperm range result_type save scalar_tensor seed set_anomaly_enabled
    set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype
    set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
    set_autocast_xla_dtype set_autocast_xla_enabled set_default_device set_default_dtype
    set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision
    set_flush_denormal set_grad_enabled set_num_interop_threads set_num_threads set_printoptions
    set_rng_state set_warn_always sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor
    sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor sym_constrain_range
    sym_constrain_range_for_size sym_fresh_size tensor thread_safe_generator tril_indices
    triu_indices typename unify_type_list use_deterministic_algorithms vander vmap wait zeros""",
    "torch.functional": "broadcast_shapes align_tensors lobpcg",
    "torch.fft": "fftfreq rfftfreq",
    "torch.nn.functional": """_canonical_mask _none_or_dtype assert_int_or_pair boolean_dispatch
    grouped_mm handle_torch_function hardsigmoid hardswish has_torch_function
    has_torch_function_unary has_torch_function_variadic scaled_addmm scaled_addmm_
    scaled_grouped_mm scaled_mm sigmoid tanh upsample upsample_bilinear upsample_nearest""",
    "torch.nn.init": """calculate_gain constant dirac eye kaiming_normal kaiming_uniform normal
    orthogonal sparse uniform xavier_normal xavier_uniform""",
    "torch.Tensor": """__class__ __delattr__ __delitem__ __dir__ __getattribute__ __hash__ __init__
    __init_subclass__ __iter__ __new__ __setattr__ __subclasshook__ __torch_dispatch__
    __torch_function__ _addmm_activation _conj _conj_physical _fix_weakref _is_all_true
    _is_any_true _is_zerotensor _lazy_clone _make_subclass _make_wrapper_subclass _neg_view
    _reduce_ex_internal _typed_storage _use_count _view_func _view_func_unsafe as_subclass
    cholesky eig lstsq new new_empty new_empty_strided new_full new_ones new_tensor new_zeros qr
    reinforce solve stride symeig to_padded_tensor to_sparse_bsc to_sparse_bsr to_sparse_coo
    to_sparse_csc to_sparse_csr unflatten""",
}


def _namespace(path):
    found = torch
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found


@functools.lru_cache(None)
def get_ignored_functions():
    """Public functions that never look at ``__torch_function__``."""
    found = set()
    for path, names in _IGNORED.items():
        namespace = _namespace(path)
        for name in names.split():
            value = getattr(namespace, name, None)
            if value is not None and getattr(type(value), "__hash__", None) is not None:
                found.add(value)
    return found


def _public_members(path, namespace):
    """(name, value) of what may be overridable, as far as it is written."""
    is_class = isinstance(namespace, type)
    for name in dir(namespace):
        if not is_class and (name.startswith("_") or name[0].isupper() or name.endswith("_") and (
                path in ("torch", "torch.special", "torch.nn.functional"))):
            continue
        if name in ("__weakref__", "__dict__", "__doc__", "__module__"):
            continue
        try:
            value = getattr(namespace, name)
        except (AttributeError, ImportError, NotImplementedError):
            continue
        if value is not None and not isinstance(value, (type, type(torch))):
            yield name, value


def _is_ours(value):
    module = getattr(value, "__module__", None)
    return module is None or str(module).partition(".")[0] in ("torch", "builtins")


@functools.lru_cache(None)
def _get_overridable_functions():
    """({namespace: functions}, {function: dotted name}); names of later namespaces win.

    A property is a namespace of its own: what can be overridden is its getter.
    """
    overridable, names = {}, {}
    ignored = get_ignored_functions()
    for path in _NAMESPACES:
        namespace = _namespace(path)
        if namespace is None:
            continue
        for name, value in _public_members(path, namespace):
            where = namespace
            if not callable(value):
                if not hasattr(value, "__get__"):
                    continue
                where, value, name = value, value.__get__, f"{name}.__get__"
            elif not _is_ours(value) or getattr(object, name, None) is value:
                continue
            try:
                names[value] = f"{path}.{name}"
                if value not in ignored:
                    overridable.setdefault(where, []).append(value)
            except TypeError:  # without a hash
                continue
    return overridable, names


def get_overridable_functions():
    """{namespace: [functions that look at ``__torch_function__``]}"""
    return _get_overridable_functions()[0]


def resolve_name(f):
    """The dotted name of a function or operator of this package, or None."""
    if isinstance(f, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(f)
    if isinstance(f, str):
        return f
    return _get_overridable_functions()[1].get(f)


@functools.lru_cache(None)
def _get_tensor_methods():
    return {f for where, found in get_overridable_functions().items() for f in found
            if where is torch.Tensor or not isinstance(where, (type, type(torch)))}


def is_tensor_method_or_property(func):
    """Is `func` a method or a getter of a property of `torch.Tensor`?"""
    return func in _get_tensor_methods() or getattr(func, "__name__", "") == "__get__"


def get_testing_overrides():
    """{function: a dummy that takes the same arguments and returns -1}"""
    return {f: (lambda *args, **kwargs: -1) for fs in get_overridable_functions().values()
            for f in fs}


def get_default_nowrap_functions():
    """Functions whose results the default ``Tensor.__torch_function__`` leaves as they are."""
    return torch._tensor._unwrapped_functions()
