// The codes of the stable C ABI: element types, devices, layouts, memory formats.
#include "abi/stable.h"

using namespace rl;

RL_ABI uint64_t aoti_torch_abi_version() { return uint64_t(2) << 56 | uint64_t(15) << 48; }

#define RL_CODE(name, value) \
  RL_ABI int32_t name() { return int32_t(value); }

RL_CODE(aoti_torch_dtype_uint8, DType::UInt8)
RL_CODE(aoti_torch_dtype_int8, DType::Int8)
RL_CODE(aoti_torch_dtype_int16, DType::Int16)
RL_CODE(aoti_torch_dtype_int32, DType::Int32)
RL_CODE(aoti_torch_dtype_int64, DType::Int64)
RL_CODE(aoti_torch_dtype_float16, DType::Half)
RL_CODE(aoti_torch_dtype_float32, DType::Float)
RL_CODE(aoti_torch_dtype_float64, DType::Double)
RL_CODE(aoti_torch_dtype_complex32, DType::ComplexHalf)
RL_CODE(aoti_torch_dtype_complex64, DType::ComplexFloat)
RL_CODE(aoti_torch_dtype_complex128, DType::ComplexDouble)
RL_CODE(aoti_torch_dtype_bool, DType::Bool)
RL_CODE(aoti_torch_dtype_bfloat16, DType::BFloat16)
RL_CODE(aoti_torch_dtype_float8_e5m2, DType::Float8_e5m2)
RL_CODE(aoti_torch_dtype_float8_e4m3fn, DType::Float8_e4m3fn)
RL_CODE(aoti_torch_dtype_float8_e5m2fnuz, DType::Float8_e5m2fnuz)
RL_CODE(aoti_torch_dtype_float8_e4m3fnuz, DType::Float8_e4m3fnuz)
RL_CODE(aoti_torch_dtype_uint16, DType::UInt16)
RL_CODE(aoti_torch_dtype_uint32, DType::UInt32)
RL_CODE(aoti_torch_dtype_uint64, DType::UInt64)
// codes of types that have no tensors here
RL_CODE(aoti_torch_dtype_float8_e8m0fnu, 44)
RL_CODE(torch_dtype_float8_e8m0fnu, 44)
RL_CODE(aoti_torch_dtype_float4_e2m1fn_x2, 45)
RL_CODE(torch_dtype_float4_e2m1fn_x2, 45)

RL_CODE(aoti_torch_device_type_cpu, DeviceType::CPU)
RL_CODE(aoti_torch_device_type_cuda, DeviceType::CUDA)
RL_CODE(aoti_torch_device_type_xpu, DeviceType::XPU)
RL_CODE(aoti_torch_device_type_mps, DeviceType::MPS)
RL_CODE(aoti_torch_device_type_meta, DeviceType::Meta)
RL_CODE(aoti_torch_device_type_privateuse1, 20)

RL_CODE(aoti_torch_layout_strided, Layout::Strided)
RL_CODE(aoti_torch_layout_sparse_coo, Layout::Sparse)
RL_CODE(aoti_torch_layout_sparse_csr, Layout::SparseCsr)
RL_CODE(aoti_torch_layout_sparse_csc, Layout::SparseCsc)
RL_CODE(aoti_torch_layout_sparse_bsr, Layout::SparseBsr)
RL_CODE(aoti_torch_layout_sparse_bsc, Layout::SparseBsc)
RL_CODE(aoti_torch_layout__mkldnn, Layout::Mkldnn)
RL_CODE(aoti_torch_layout_jagged, Layout::Jagged)

RL_CODE(aoti_torch_memory_format_contiguous_format, MemoryFormat::Contiguous)
RL_CODE(aoti_torch_memory_format_preserve_format, MemoryFormat::Preserve)
RL_CODE(aoti_torch_memory_format_channels_last, MemoryFormat::ChannelsLast)
RL_CODE(aoti_torch_memory_format_channels_last_3d, MemoryFormat::ChannelsLast3d)

// torch.Tag
RL_CODE(torch_tag_core, 0)
RL_CODE(torch_tag_cudagraph_unsafe, 1)
RL_CODE(torch_tag_data_dependent_output, 2)
RL_CODE(torch_tag_dynamic_output_shape, 3)
RL_CODE(torch_tag_flexible_layout, 4)
RL_CODE(torch_tag_generated, 5)
RL_CODE(torch_tag_inplace_view, 7)
RL_CODE(torch_tag_maybe_aliasing_or_mutating, 8)
RL_CODE(torch_tag_needs_contiguous_strides, 9)
RL_CODE(torch_tag_needs_exact_strides, 10)
RL_CODE(torch_tag_needs_fixed_stride_order, 11)
RL_CODE(torch_tag_nondeterministic_bitwise, 12)
RL_CODE(torch_tag_nondeterministic_seeded, 13)
RL_CODE(torch_tag_out_variant, 15)
RL_CODE(torch_tag_pointwise, 16)
RL_CODE(torch_tag_pt2_compliant_tag, 17)
RL_CODE(torch_tag_reduction, 18)
RL_CODE(torch_tag_view_copy, 19)

RL_ABI size_t aoti_torch_dtype_element_size(int32_t dtype) {
  return dtype >= 0 && dtype < kNumDTypes ? size_t(itemsize(DType(dtype))) : 0;
}
