"""Functions for tensors of backends that this package does not have: cuDNN, MIOpen, quantized ...

`refusing` are those that PyTorch's CPU refuses too, in its words; `missing` says what PyTorch's CPU
can do (quantized tensors, FBGEMM) and this package cannot. Both raise NotImplementedError.
"""

from torch._missing import missing_function

REFUSED = frozenset("""
    batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
    batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
    cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
    cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler int_repr
    miopen_batch_norm miopen_convolution miopen_convolution_add_relu miopen_convolution_relu
    miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn
    mkldnn_adaptive_avg_pool2d mkldnn_linear_backward_weights mkldnn_max_pool2d
    mkldnn_max_pool3d native_norm q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qscheme
""".split())
MISSING = frozenset("""
    choose_qparams_optimized empty_quantized fbgemm_linear_fp16_weight
    fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
    fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
    fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix fused_moving_avg_obs_fake_quant
    mkldnn_rnn_layer quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic
    quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell
    quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
    quantized_rnn_tanh_cell
""".split())


def function(name):
    """The function `torch.<name>`: it raises NotImplementedError."""
    if name in MISSING:
        return missing_function(f"torch.{name}")

    def refuse(*args, **kwargs):
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend. The operator "
            "does not exist for this backend.")

    refuse.__module__, refuse.__name__, refuse.__qualname__ = "torch", name, name
    refuse.__doc__ = "For another backend: NotImplementedError on the CPU."
    return refuse


def mkldnn_convolution(self, weight, bias, padding, stride, dilation, groups):
    """A convolution; here the same as `torch.convolution`."""
    import torch

    zeros = [0] * len(padding)
    return torch.convolution(self, weight, bias, stride, padding, dilation, False, zeros, groups)


def dequantize(tensor):
    """A tensor as float32; quantized tensors do not exist here."""
    if isinstance(tensor, (list, tuple)):
        return function("dequantize.tensors")()
    return tensor.float()
