"""CUDA's libraries: not in this build. Settings are remembered so that programs may set them."""

from contextlib import contextmanager

__all__ = [
    "is_built", "cuFFTPlanCacheAttrContextProp", "cuFFTPlanCache", "cuFFTPlanCacheManager",
    "cuBLASModule", "preferred_linalg_library", "preferred_blas_library",
    "preferred_rocm_fa_library", "cufft_plan_cache", "matmul", "SDPAParams", "enable_cudnn_sdp",
    "cudnn_sdp_enabled", "enable_flash_sdp", "flash_sdp_enabled", "enable_mem_efficient_sdp",
    "mem_efficient_sdp_enabled", "math_sdp_enabled", "enable_math_sdp",
    "allow_fp16_bf16_reduction_math_sdp", "fp16_bf16_reduction_math_sdp_allowed",
    "is_flash_attention_available", "can_use_flash_attention", "can_use_efficient_attention",
    "can_use_cudnn_attention", "sdp_kernel",
]


def is_built():
    return False


def _refuse():
    raise RuntimeError("Torch not compiled with CUDA enabled")


def blas_workspace_size(size=None, backend=None):
    """Bytes of scratch memory of cuBLAS: there is no cuBLAS."""
    _refuse()


def cublas_workspace_size(size=None):
    _refuse()


def cublaslt_workspace_size(size=None):
    _refuse()


def is_ck_sdpa_available():
    """Composable kernels of ROCm: not in this build."""
    return False


class cuFFTPlanCacheAttrContextProp:
    """A setting of a plan cache; there is none."""

    def __init__(self, getter, setter):
        pass

    def __get__(self, obj, objtype):
        _refuse()

    def __set__(self, obj, value):
        _refuse()


class cuFFTPlanCache:
    """The plans of one device."""

    size = cuFFTPlanCacheAttrContextProp(None, None)
    max_size = cuFFTPlanCacheAttrContextProp(None, None)

    def __init__(self, device_index):
        self.device_index = device_index

    def clear(self):
        _refuse()


class cuFFTPlanCacheManager:
    """The plans of all devices."""

    def __getitem__(self, device):
        _refuse()


class cuBLASModule:
    """Precision settings of matrix products on CUDA devices."""

    def __init__(self):
        self.allow_tf32 = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False
        self.fp32_precision = "none"


cufft_plan_cache = cuFFTPlanCacheManager()
matmul = cuBLASModule()
_sdp = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduction": False}


def preferred_linalg_library(backend=None):
    return "default"


def preferred_blas_library(backend=None):
    return "default"


def preferred_rocm_fa_library(backend=None):
    return "default"


class SDPAParams:
    """The arguments of an attention call, for the questions below."""

    def __init__(self, query, key, value, attn_mask, dropout, is_causal, enable_gqa=False):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def flash_sdp_enabled():
    return _sdp["flash"]


def enable_flash_sdp(enabled):
    _sdp["flash"] = bool(enabled)


def mem_efficient_sdp_enabled():
    return _sdp["mem_efficient"]


def enable_mem_efficient_sdp(enabled):
    _sdp["mem_efficient"] = bool(enabled)


def math_sdp_enabled():
    return _sdp["math"]


def enable_math_sdp(enabled):
    _sdp["math"] = bool(enabled)


def cudnn_sdp_enabled():
    return _sdp["cudnn"]


def enable_cudnn_sdp(enabled):
    _sdp["cudnn"] = bool(enabled)


def allow_fp16_bf16_reduction_math_sdp(enabled):
    _sdp["reduction"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed():
    return _sdp["reduction"]


def is_flash_attention_available():
    return False


def can_use_flash_attention(params, debug=False):
    return False


def can_use_efficient_attention(params, debug=False):
    return False


def can_use_cudnn_attention(params, debug=False):
    return False


@contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """The kinds of attention kernels that may be chosen inside the block."""
    saved = dict(_sdp)
    _sdp.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient,
                cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _sdp.update(saved)
