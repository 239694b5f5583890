"""Rushlight: tensors, automatic differentiation and neural networks with PyTorch's public API.

Importing this loads the core and little else. Submodules and the less used functions come in when
they are first named (`__getattr__` below).
"""

import sys as _sys
from math import e, inf, nan, pi

from torch import _C
from torch.torch_version import TorchVersion as _TorchVersion
from torch.version import __version__ as _version_text

__version__ = _TorchVersion(_version_text)
newaxis = None

_C._fill_namespace(globals(), "_constants")
_C._fill_namespace(globals(), "_VariableFunctions")
for _name in ("unique_consecutive", "unique_dim"):  # torch.functional has the public forms
    globals().pop(_name, None)

from torch._C import (  # noqa: E402
    Generator,
    OutOfMemoryError,
    Size,
    Tensor,
    can_cast,
    default_generator,
    device,
    dtype,
    get_default_dtype,
    get_num_threads,
    layout,
    memory_format,
    promote_types,
    set_num_threads,
)

import torch._tensor  # noqa: E402,F401  (attaches methods to Tensor)

# Modules of the package that `import torch` makes reachable as torch.<name>.
_LAZY_MODULES = frozenset(
    """accelerator amp ao autograd backends compiler cpu cuda distributed distributions export fft
    func functional futures fx hub jit library linalg masked monitor mps mtia multiprocessing
    nested nn numa onnx optim overrides package profiler quantization quasirandom random
    serialization signal sparse special storage testing torch_version types utils version xpu
    _ops _tensor_str _utils _jit_internal _lowrank _linalg_utils _dynamo _inductor _functorch
    _higher_order_ops _prims _prims_common _refs _decomp _subclasses _guards _meta_registrations
    _weights_only_unpickler __config__ __future__ return_types _VF _classes
    _namedtensor_internals _sources _vmap_internals _logging _custom_op _library _lobpcg
    _custom_ops _torch_docs _tensor_docs""".split()
)

# Names that live in a module which is loaded when they are first used.
_LAZY_NAMES = {}
for _module, _names in {
    "torch._info": "finfo iinfo",
    "torch._settings": "are_deterministic_algorithms_enabled classproperty compile "
    "compiled_with_cxx11_abi get_default_device get_deterministic_debug_mode get_device_module "
    "get_file_path get_float32_matmul_precision get_num_interop_threads "
    "is_deterministic_algorithms_warn_only_enabled is_storage is_tensor is_warn_always_enabled "
    "prepare_multiprocessing_environment set_default_device set_default_dtype "
    "set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision "
    "set_flush_denormal set_num_interop_threads set_warn_always typename "
    "use_deterministic_algorithms cond while_loop is_vulkan_available init_num_threads "
    "AcceleratorError FatalError Event Stream SymBool SymFloat SymInt Tag sym_float sym_int "
    "sym_ite sym_max sym_min sym_not sym_sqrt sym_sum sym_fresh_size is_distributed from_file "
    "to_dlpack from_dlpack has_lapack has_mkl has_mkldnn has_openmp has_spectral has_cuda "
    "sym_constrain_range sym_constrain_range_for_size thread_safe_generator _running_with_deploy "
    "get_device numel is_floating_point is_complex is_signed is_conj is_neg is_inference "
    "is_nonzero detach_ "
    "cudnn_is_acceptable qscheme result_type "
    "per_tensor_affine per_channel_affine per_tensor_symmetric per_channel_symmetric "
    "per_channel_affine_float_qparams _assert",
    "torch._archive_files": "PyTorchFileReader",
    "torch._fake_quantize": "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine",
    "torch._other_backends": "dequantize mkldnn_convolution",
    "torch._segments": "segment_reduce",
    "torch._checks": "_assert_async _check _check_index _check_is_size _check_not_implemented "
    "_check_tensor_all _check_tensor_all_with _check_type _check_value _check_with "
    "_shape_as_tensor",
    "torch._legacy_types": "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor "
    "FloatTensor HalfTensor IntTensor LongTensor ShortTensor tensortype",
    "torch._sparse_tensor": "sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor "
    "sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor _validate_sparse_csr_tensor_args "
    "_validate_sparse_csc_tensor_args _validate_sparse_bsr_tensor_args "
    "_validate_sparse_bsc_tensor_args",
    "torch._tensor_str": "set_printoptions",
    "torch.random": "get_rng_state initial_seed manual_seed seed set_rng_state",
    "torch.serialization": "load save",
    "torch.storage": "TypedStorage",
    "torch._untyped_storage": "UntypedStorage",
    "torch._ops": "ops classes",
    "torch._dispatch": "DispatchKey",
    "torch._op_schema": "Argument FunctionSchema",
    "torch.autograd.grad_mode": "enable_grad inference_mode no_grad set_grad_enabled",
    "torch.autograd.anomaly_mode": "",
    "torch.amp": "GradScaler autocast",
    "torch.func": "vmap",
    "torch.jit": "ScriptFunction ScriptModule fork wait",
    "torch.futures": "Future",
    "torch._linalg_utils": "cholesky eig lstsq matrix_rank qr solve symeig",
    "torch.functional": "align_tensors atleast_1d atleast_2d atleast_3d block_diag "
    "broadcast_shapes broadcast_tensors cartesian_prod cdist chain_matmul einsum istft lobpcg lu "
    "meshgrid norm "
    "pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index",
}.items():
    for _name in _names.split():
        _LAZY_NAMES[_name] = _module
del _module, _names, _name

_STORAGES = frozenset(
    """BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage
    DoubleStorage FloatStorage HalfStorage IntStorage LongStorage QInt32Storage QInt8Storage
    QUInt2x4Storage QUInt4x2Storage QUInt8Storage ShortStorage""".split()
)


def _import(name):
    module = _sys.modules.get(name)
    if module is None:
        from importlib import import_module

        module = import_module(name)
    return module


def _import_for(module, name):
    """A module that is not written yet makes its names missing attributes, not import errors."""
    try:
        return _import(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(f"module 'torch' has no attribute {name!r}") from None


def __getattr__(name):
    module = _LAZY_NAMES.get(name)
    if module is not None:
        value = getattr(_import_for(module, name), name)
    elif name in _LAZY_MODULES:
        return _import_for("torch." + name, name)
    elif name in _STORAGES:
        value = _import("torch.storage")._legacy_class(name)
    elif name == "__all__":
        return _public_names()
    elif name == "Storage":
        value = _import("torch.storage")._legacy_class("FloatStorage")
    elif name in _C_NAMES:
        value = getattr(_C, name)
    elif name == "_grouped_mm":
        value = _import("torch._grouped").grouped_mm
    elif name.startswith("_foreach_"):
        value = getattr(_import("torch._foreach"), name)
    elif name in _OTHER_BACKENDS:
        value = _import("torch._other_backends").function(name)
    else:
        raise AttributeError(f"module 'torch' has no attribute {name!r}")
    globals()[name] = value
    return value


# Names of torch._C that are written in Python, and the modules that have them.
_EXTENSION_NAMES = {}
for _module, _names in {
    "torch._dispatch": "DispatchKey DispatchKeySet ExcludeDispatchKeyGuard "
    "_ExcludeDispatchKeyGuard _IncludeDispatchKeyGuard _ForceDispatchKeyGuard "
    "_AutoDispatchBelowAutograd _AutoDispatchBelowADInplaceOrView _parse_dispatch_key",
    "torch._op_schema": "parse_schema FunctionSchema Argument _get_schema "
    "_jit_get_schemas_for_operator _jit_get_all_schemas",
}.items():
    for _name in _names.split():
        _EXTENSION_NAMES[_name] = _module
del _module, _names, _name


def _extension_attribute(name):
    module = _EXTENSION_NAMES.get(name)
    if module is None and name.startswith("_") and not name.startswith("__"):
        module = "torch._" + ("dispatch" if name.startswith("_dispatch_") else "extension_names")
    value = getattr(_import_for(module, name), name, _C) if module else _C
    if value is _C:
        raise AttributeError(f"module 'torch._C' has no attribute {name!r}")
    setattr(_C, name, value)
    return value


_C.__getattr__ = _extension_attribute
_C.__path__ = [path + "/_C_modules" for path in __path__]  # submodules written in Python


def _finding_libraries(create_module):
    """Extensions of the stable C ABI may be imported as Python modules, too: when one does not find
    the libraries that it names, it gets them (docs/ABI.md)."""
    def create(self, spec):
        try:
            return create_module(self, spec)
        except ImportError as error:
            if not str(error).startswith(("libtorch", "libc10", "libcudart.so.13")):
                raise
        _import("torch._stable_abi_loader").prepare()
        return create_module(self, spec)

    return create


_loader = type(_C.__loader__)
_loader.create_module = _finding_libraries(_loader.create_module)
del _loader

# Functions for backends that this package does not have; torch._other_backends makes them.
_OTHER_BACKENDS = frozenset(
    """batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
    batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
    choose_qparams_optimized cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
    cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose
    cudnn_grid_sampler empty_quantized fbgemm_linear_fp16_weight
    fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
    fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
    fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix fused_moving_avg_obs_fake_quant
    int_repr miopen_batch_norm miopen_convolution miopen_convolution_add_relu
    miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss
    miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d
    mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer
    native_norm q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
    q_zero_point quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic
    quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell
    quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
    quantized_rnn_tanh_cell""".split()
)

# What torch takes from the extension as it is, when it is there.
_C_NAMES = frozenset(
    n for n in dir(_C) if n.startswith(("is_", "set_", "autocast_", "get_", "clear_", "unify_",
                                        "merge_", "parse_", "import_ir", "fork", "wait", "_"))
) - {"_C"}


def __dir__():
    names = set(globals()) | _LAZY_MODULES | set(_LAZY_NAMES) | _STORAGES | _OTHER_BACKENDS
    return sorted(n for n in names if n not in ("_C_NAMES",))


def _public_names():
    """`__all__`, made when `from torch import *` asks: the names that are there."""
    here = _sys.modules[__name__]
    names = set(globals()) | set(_LAZY_NAMES)
    return sorted(n for n in names if not n.startswith("_") and hasattr(here, n))
