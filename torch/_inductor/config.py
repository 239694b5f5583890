"""Settings of the code-generating compiler: kept for programs that set them."""

import sys

from torch.utils._config_module import install_config_module

debug = False
cpp_wrapper = False
fx_graph_cache = True
fx_graph_remote_cache = None
autotune_local_cache = True
force_disable_caches = False
max_autotune = False
max_autotune_gemm = False
max_autotune_pointwise = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
coordinate_descent_tuning = False
epilogue_fusion = True
epilogue_fusion_first = False
prologue_fusion = True
pattern_matcher = True
shape_padding = True
permute_fusion = False
freezing = False
freezing_discard_parameters = False
conv_1x1_as_mm = False
force_fuse_int_mm_with_mul = False
use_mixed_mm = True
emulate_precision_casts = False
fallback_random = False
implicit_fallbacks = True
inplace_buffers = True
allow_buffer_reuse = True
memory_planning = False
size_asserts = True
nan_asserts = False
compile_threads = 1
profiler_mark_wrapper_call = False
benchmark_kernel = False
reorder_for_locality = True
layout_optimization = True
keep_output_stride = True
post_grad_custom_pre_pass = None
post_grad_custom_post_pass = None
joint_custom_pre_pass = None
joint_custom_post_pass = None
pre_grad_custom_pass = None
dce = False
verbose_progress = False
disable_progress = True


class _Group:
    """Settings of one kind of generated code, by attribute."""

    def __init__(self, **values):
        self.__dict__.update(values)


triton = _Group(cudagraphs=False, cudagraph_trees=True, unique_kernel_names=True,
                cudagraph_skip_dynamic_graphs=False, cudagraph_support_input_mutation=True,
                autotune_pointwise=True, autotune_cublasLt=True, store_cubin=False,
                multi_kernel=0, persistent_reductions=True)
cpp = _Group(threads=-1, dynamic_threads=False, simdlen=None, min_chunk_size=512,
             enable_kernel_profile=False, weight_prepack=True, max_horizontal_fusion_size=16)
cuda = _Group(arch=None, version=None, compile_opt_level="-O1", enable_cuda_lto=False)
trace = _Group(enabled=False, debug_log=False, info_log=False, fx_graph=True, graph_diagram=False)
aot_inductor = _Group(output_path="", debug_compile=False, package=False)

install_config_module(sys.modules[__name__])
