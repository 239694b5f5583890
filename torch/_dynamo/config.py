"""Settings of the compiler: kept for programs that set them."""

import sys

from torch.utils._config_module import install_config_module

recompile_limit = 8
accumulated_recompile_limit = 256
fail_on_recompile_limit_hit = False
error_on_recompile = False
report_guard_failures = True
verbose = False
log_file_name = None
suppress_errors = False
disable = False
dynamic_shapes = True
assume_static_by_default = True
automatic_dynamic_shapes = True
specialize_int = False
specialize_float = False
force_parameter_static_shapes = True
force_nn_module_property_static_shapes = True
allow_ignore_mark_dynamic = False
allow_unspec_int_on_nn_module = False
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
capture_autograd_function = True
capture_func_transforms = True
capture_sparse_compute = True
capture_profiler_record_function = False
prefer_deferred_runtime_asserts_over_guards = False
force_unspec_int_unbacked_size_like_on_torchrec_kjt = False
guard_nn_modules = True
inline_inbuilt_nn_modules = True
skip_nnmodule_hook_guards = True
skip_fsdp_guards = True
prepare_freezing = False
optimize_ddp = True
optimize_ddp_lazy_compile = False
compiled_autograd = False
allow_rnn = False
trace_numpy = True
numpy_default_float = "float64"
numpy_default_complex = "complex128"
numpy_default_int = "int64"
use_numpy_random_stream = False
error_on_nested_fx_trace = True
error_on_nested_jit_trace = True
raise_on_ctx_manager_usage = True
rewrite_assert_with_torch_assert = True
repro_after = None
repro_level = 2
minimum_call_count = 1
fake_tensor_cache_enabled = True
nested_graph_breaks = False
dont_skip_tracing = False
allow_empty_graphs = False
enable_cpp_guard_manager = True
reorderable_logging_functions = set()
traceable_tensor_subclasses = set()
debug_dir_root = "torch_compile_debug"

install_config_module(sys.modules[__name__], aliases={
    "cache_size_limit": "recompile_limit",
    "accumulated_cache_size_limit": "accumulated_recompile_limit",
    "fail_on_cache_limit_hit": "fail_on_recompile_limit_hit",
})
