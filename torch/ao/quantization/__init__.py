"""torch.ao.quantization: stubs, observers, simulated rounding and fusion of modules work. There are
no quantised tensors or modules yet: `prepare`, `convert` and the like raise NotImplementedError.
"""

import enum
from typing import Union

from torch._missing import add_missing
from torch.ao.quantization.fake_quantize import *  # noqa: F401,F403
from torch.ao.quantization.fuse_modules import (  # noqa: F401
    fuse_conv_bn,
    fuse_conv_bn_relu,
    fuse_convtranspose_bn,
    fuse_linear_bn,
    fuse_modules,
    fuse_modules_qat,
    get_fuser_method,
)
from torch.ao.quantization.observer import *  # noqa: F401,F403
from torch.ao.quantization.observer import ObserverBase
from torch.ao.quantization.qconfig import *  # noqa: F401,F403
from torch.ao.quantization.qconfig import (  # noqa: F401
    default_activation_only_qconfig,
    default_dynamic_qat_qconfig,
    default_dynamic_qconfig,
    default_embedding_qat_qconfig,
    default_per_channel_qconfig,
    default_qat_qconfig_v2,
    default_weight_only_qconfig,
    float16_dynamic_qconfig,
    float16_static_qconfig,
    float_qparams_weight_only_qconfig,
    float_qparams_weight_only_qconfig_4bit,
    get_default_qat_qconfig_dict,
    get_default_qconfig_dict,
    per_channel_dynamic_qconfig,
)
from torch.ao.quantization.qconfig_mapping import (  # noqa: F401
    QConfigMapping,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from torch.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper  # noqa: F401

ObserverOrFakeQuantize = Union[ObserverBase, FakeQuantizeBase]  # noqa: F405
QuantType = enum.IntEnum("QuantType", [("DYNAMIC", 0), ("STATIC", 1), ("QAT", 2),
                                       ("WEIGHT_ONLY", 3)], module=__name__)

add_missing(globals(), "torch.ao.quantization", """
    add_quant_dequant convert convert_dynamic_jit convert_jit fuse_conv_bn_jit fuse_jit
    get_default_compare_output_module_list get_default_custom_config_dict
    get_default_dynamic_quant_module_mappings get_default_dynamic_sparse_quant_module_mappings
    get_default_float_to_quantized_operator_mappings get_default_qat_module_mappings
    get_default_qconfig_propagation_list get_default_static_quant_module_mappings
    get_default_static_quant_reference_module_mappings
    get_default_static_sparse_quant_module_mappings get_dynamic_quant_module_class
    get_embedding_qat_module_mappings get_embedding_static_quant_module_mappings
    get_fuser_method_new get_quantized_operator get_static_quant_module_class no_observer_set
    prepare prepare_dynamic_jit prepare_jit prepare_qat propagate_qconfig_ quantize
    quantize_dynamic quantize_dynamic_jit quantize_jit quantize_qat script_qconfig
    script_qconfig_dict swap_module
""")


def default_eval_fn(model, calib_data):
    """Runs the model on pairs (input, target)."""
    for data, _ in calib_data:
        model(data)
