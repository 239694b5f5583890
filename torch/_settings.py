"""Process-wide settings and small questions of the `torch` namespace.

Everything here is reachable as ``torch.<name>`` and loaded when first used.
"""

import builtins
import functools
import os

import torch
from torch import _C


def _overridable(function):
    """Lets arguments with ``__torch_function__`` take the call over."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if _C._has_torch_function(args):
            from torch.overrides import handle_torch_function

            return handle_torch_function(call, args, *args, **kwargs)
        return function(*args, **kwargs)

    call.__module__ = "torch"
    return call


# ---------------------------------------------------------------- what is it


def is_tensor(obj, /):
    """Is `obj` a tensor (of any subclass)?"""
    return isinstance(obj, _C.TensorBase)


def is_storage(obj, /):
    """Is `obj` a storage, typed or not?"""
    from torch.storage import TypedStorage

    return isinstance(obj, (_C.StorageBase, TypedStorage))


def typename(obj, /):
    """The name of an object's type: ``"torch.FloatTensor"`` for tensors."""
    if isinstance(obj, _C.TensorBase):
        return obj.type()
    module = getattr(obj, "__module__", None) or ""
    if hasattr(obj, "__qualname__"):
        name = obj.__qualname__
    elif hasattr(obj, "__name__"):
        name = obj.__name__
    else:
        module, name = type(obj).__module__, type(obj).__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


def is_distributed(input):
    """False: no tensor of this package is distributed."""
    return False


@_overridable
def numel(input):
    """The number of elements."""
    return input.numel()


@_overridable
def get_device(input):
    return input.get_device()


def _simple_question(name):
    def question(input):
        if not isinstance(input, _C.TensorBase):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not "
                f"{type(input).__name__}"
            )
        return getattr(input, name)()

    question.__name__ = name
    question.__doc__ = f"The same as ``input.{name}()``."
    return _overridable(question)


is_floating_point = _simple_question("is_floating_point")
is_complex = _simple_question("is_complex")
is_signed = _simple_question("is_signed")
is_conj = _simple_question("is_conj")
is_neg = _simple_question("is_neg")
is_inference = _simple_question("is_inference")


@_overridable
def detach_(input):
    """Cuts a tensor off from its history, in place."""
    return input.detach_()


def is_nonzero(input):
    """Is a one-element tensor other than zero?"""
    if input.numel() == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    return bool(input)


def is_vulkan_available():
    return False


def cudnn_is_acceptable(tensor):
    return False


@_overridable
def result_type(tensor1, tensor2):
    """The dtype that arithmetic between two tensors or numbers gives."""
    def kind(x):
        if isinstance(x, _C.TensorBase):
            return x.dtype, (0 if x.dim() else 1)
        if isinstance(x, bool):
            return torch.bool, 2
        if isinstance(x, int):
            return torch.int64, 2
        if isinstance(x, float):
            return torch.get_default_dtype(), 2
        if isinstance(x, complex):
            return torch.get_default_dtype().to_complex(), 2
        raise TypeError(f"result_type(): expected Tensor or Number, not {type(x).__name__}")

    (a, pa), (b, pb) = kind(tensor1), kind(tensor2)
    if pa == pb:
        return torch.promote_types(a, b)
    strong, weak = (a, b) if pa < pb else (b, a)
    if _category(weak) <= _category(strong):
        return strong
    if weak.is_complex and strong.is_floating_point:
        return strong.to_complex()
    return weak


def _category(dtype):
    if dtype.is_complex:
        return 3
    if dtype.is_floating_point:
        return 2
    return 0 if dtype == torch.bool else 1


# ---------------------------------------------------------------- defaults


def set_default_dtype(d, /):
    """The dtype of tensors made from Python floats. Floating point types only."""
    _C._set_default_dtype(d)


def set_default_tensor_type(t, /):
    """The default dtype, named by a class like ``torch.DoubleTensor``."""
    if isinstance(t, str):
        name = t.rpartition(".")[2]
        t = getattr(torch, name)
    if not hasattr(t, "dtype") or not t.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C._set_default_dtype(t.dtype)


def get_default_device():
    """The device on which factories make tensors when none is given."""
    mode = _device_mode()
    if mode is None:
        return torch.device("cpu")
    device = mode.device
    return device


def set_default_device(device):
    """Factories make their tensors on `device` from now on; None for the CPU."""
    from torch.utils import _device

    _device._set_default(device)


def _device_mode():
    import sys

    module = sys.modules.get("torch.utils._device")
    return module._current() if module is not None else None


# ---------------------------------------------------------------- determinism and precision

_state = {"deterministic": False, "warn_only": False, "warn_always": False, "precision": "highest",
          "fill": True}


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Operators of this package are deterministic anyway; the setting is remembered.

    New memory is filled with NaN or the largest integer as long as it is on, unless
    `torch.utils.deterministic.fill_uninitialized_memory` is False.
    """
    _state["deterministic"], _state["warn_only"] = bool(mode), bool(warn_only)
    _C._set_fill_new_memory(_state["deterministic"] and _state["fill"])


def _set_fill_uninitialized_memory(mode):
    _state["fill"] = mode
    _C._set_fill_new_memory(_state["deterministic"] and mode)


def are_deterministic_algorithms_enabled():
    return _state["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    return _state["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """``"default"``, ``"warn"``, ``"error"`` or 0, 1, 2."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    names = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str):
        if debug_mode not in names:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = names[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode():
    if not _state["deterministic"]:
        return 0
    return 1 if _state["warn_only"] else 2


def get_float32_matmul_precision():
    return _state["precision"]


def set_float32_matmul_precision(precision):
    """``"highest"``, ``"high"`` or ``"medium"``: remembered; products are computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(
            f"{precision} is not one of 'highest', 'high', or 'medium'"
        )
    _state["precision"] = precision


def set_warn_always(b, /):
    """Repeat warnings that are otherwise given once."""
    _state["warn_always"] = bool(b)


def is_warn_always_enabled():
    return _state["warn_always"]


def set_flush_denormal(mode):
    """False: this build does not flush denormal numbers."""
    return False


# ---------------------------------------------------------------- threads

_interop = [None]


def get_num_interop_threads():
    """Threads for independent operators; nothing runs on them unless asked for by name."""
    return _interop[0] if _interop[0] is not None else (os.cpu_count() or 1)


def set_num_interop_threads(n, /):
    if not isinstance(n, int) or isinstance(n, bool):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(n).__name__}")
    if n <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _interop[0] is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _interop[0] = n


def init_num_threads():
    """Thread pools start by themselves."""


def prepare_multiprocessing_environment(path):
    """Nothing is needed before worker processes start."""


def thread_safe_generator():
    return torch.random.thread_safe_generator()


# ---------------------------------------------------------------- the build

has_lapack = has_openmp = has_mkldnn = has_spectral = True
has_mkl = has_cuda = False


def compiled_with_cxx11_abi():
    return True


def get_file_path(*path_components):
    """A path inside the installed package."""
    return os.path.join(os.path.dirname(torch.__file__), *path_components)


def get_device_module(device=None):
    """``torch.cpu`` or another module of a device's name."""
    if device is None:
        kind = "cpu"
    else:
        kind = device.type if isinstance(device, torch.device) else torch.device(device).type
    module = getattr(torch, kind, None)
    if module is None:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as "
                           f"'torch.{kind}'.")
    return module


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None,
              pin_memory=False, requires_grad=False):
    """A one-dimensional tensor over the first `size` elements of a file, mapped into memory."""
    dtype = dtype or torch.get_default_dtype()
    storage = torch.UntypedStorage.from_file(os.fspath(filename), bool(shared),
                                             size * dtype.itemsize)
    tensor = torch.empty(0, dtype=dtype).set_(storage, 0, (size,), (1,))
    return tensor.requires_grad_() if requires_grad else tensor


def to_dlpack(tensor):
    """A DLPack capsule over the memory of `tensor`."""
    return _C._to_dlpack(tensor)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of a DLPack capsule or of an object with ``__dlpack__``."""
    from torch.utils.dlpack import from_dlpack as convert

    return convert(ext_tensor, device=device, copy=copy)


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None,
            options=None, disable=False, recompile_limit=None, isolate_recompiles=False,
            shapes_spec=None):
    """Compiles a function or module; also a decorator.

    Only ``backend="eager"`` runs, as Python; functions compiled with another raise
    NotImplementedError when they are called. With ``disable=True`` the argument comes back.
    """
    from torch._dynamo.eval_frame import compile as compile_with

    return compile_with(model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                        options=options, disable=disable)


def cond(pred, true_fn, false_fn, operands=()):
    """``true_fn(*operands)`` or ``false_fn(*operands)``."""
    return true_fn(*operands) if bool(pred) else false_fn(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """Runs ``body_fn`` while ``cond_fn`` holds; both take the carried values."""
    carried = tuple(carried_inputs)
    while bool(cond_fn(*carried)):
        carried = tuple(body_fn(*carried))
    return carried


class classproperty:
    """A property of the class itself."""

    def __init__(self, func):
        self.func = func

    def __get__(self, instance, owner):
        return self.func(owner)


class AcceleratorError(RuntimeError):
    """An error of an accelerator."""


class FatalError(RuntimeError):
    """An error after which the process should stop."""


AcceleratorError.__module__ = FatalError.__module__ = "torch"

# ---------------------------------------------------------------- symbolic numbers: plain ones here


class SymInt:
    """Sizes are plain ints in this package; the class exists for `isinstance` tests."""


class SymFloat:
    """See `SymInt`."""


class SymBool:
    """See `SymInt`."""


SymInt.__module__ = SymFloat.__module__ = SymBool.__module__ = "torch"


@_overridable
def sym_int(a):
    return builtins.int(a)


@_overridable
def sym_float(a):
    return builtins.float(a)


@_overridable
def sym_not(a):
    return not a


@_overridable
def sym_max(a, b):
    return max(a, b)


@_overridable
def sym_min(a, b):
    return min(a, b)


def sym_sum(args):
    return sum(args)


@_overridable
def sym_ite(b, t, f):
    return t if b else f


@_overridable
def sym_sqrt(a):
    import math

    return math.sqrt(a)


def sym_constrain_range(size, *, min=None, max=None):
    if (min is not None and size < min) or (max is not None and size > max):
        raise RuntimeError(f"Invalid value range for {size} between [{min}, {max}].")


sym_constrain_range_for_size = sym_constrain_range


def sym_fresh_size(x, *, min=2, max=None):
    raise NotImplementedError("torch.sym_fresh_size is not implemented")


@_overridable
def _assert(condition, message):
    assert condition, message


def _running_with_deploy():
    return False


class Stream:
    """A queue of work of an accelerator; the CPU has none of its own."""

    def __init__(self, device=None, *, priority=0):
        raise RuntimeError("Cannot access accelerator device when none is available.")


class Event:
    """A mark in an accelerator's queue."""

    def __init__(self, device=None, *, enable_timing=False, blocking=False, interprocess=False):
        raise RuntimeError("Cannot access accelerator device when none is available.")


Stream.__module__ = Event.__module__ = "torch"


# ---------------------------------------------------------------- quantisation schemes and tags


class qscheme:
    """How quantised numbers stand for real ones; the five schemes are attributes of `torch`."""

    __module__ = "torch"

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"torch.{self._name}"

    def __reduce__(self):
        return self._name


per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")


def __getattr__(name):
    if name == "Tag":
        import enum

        names = (
            "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout "
            "generated inplace inplace_view maybe_aliasing_or_mutating needs_contiguous_strides "
            "needs_exact_strides needs_fixed_stride_order nondeterministic_bitwise "
            "nondeterministic_seeded out out_variant pointwise pt2_compliant_tag reduction "
            "view_copy"
        )
        value = globals()["Tag"] = enum.Enum("Tag", names, module="torch", start=0)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
