"""Parts of the older exporter by name."""

from torch._missing import add_missing
from torch.onnx import (  # noqa: F401
    export,
    is_in_onnx_export,
    register_custom_op_symbolic,
    select_model_mode_for_export,
    unregister_custom_op_symbolic,
)

add_missing(globals(), "torch.onnx.utils",
            "exporter_context disable_apex_o2_state_dict_hook setup_onnx_logging model_signature "
            "unconvertible_ops unpack_quantized_tensor warn_on_static_input_change _export "
            "_optimize_graph _model_to_graph")
