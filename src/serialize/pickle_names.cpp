// The names that a pickle may use without the user's leave: tensors, their parts, and containers.
#include <algorithm>
#include <array>
#include <string_view>

#include "serialize/unpickler.h"

namespace rl::serialize {
namespace {

using Names = std::string_view;

template <size_t N>
bool has(const std::array<Names, N>& names, Names name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<Names, 10> kKinds{"Double", "Float", "Half",  "BFloat16", "Long",
                                       "Int",    "Short", "Char", "Byte",     "Bool"};
constexpr std::array<Names, 7> kOtherStorages{"ComplexDouble", "ComplexFloat", "QUInt8", "QInt8",
                                              "QInt32",        "QUInt4x2",     "QUInt2x4"};

constexpr std::array<Names, 51> kDtypes{
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8",
    "uint16", "uint32", "uint64", "bool", "complex128", "complex64", "complex32", "bcomplex32",
    "qint8", "qint32", "quint8", "quint4x2", "quint2x4", "bits8", "bits16", "bits1x8", "bits2x4",
    "bits4x2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu", "float4_e2m1fn_x2", "uint1", "uint2", "uint3", "uint4", "uint5", "uint6",
    "uint7", "int1", "int2", "int3", "int4", "int5", "int6", "int7", "half", "float", "double",
    "long"};

constexpr std::array<Names, 5> kSchemes{"per_tensor_affine", "per_tensor_symmetric",
                                        "per_channel_affine", "per_channel_symmetric",
                                        "per_channel_affine_float_qparams"};

constexpr std::array<Names, 11> kRebuild{
    "_rebuild_sparse_tensor", "_rebuild_tensor_v3", "_rebuild_parameter",
    "_rebuild_meta_tensor_no_storage", "_rebuild_parameter_with_state", "_rebuild_tensor",
    "_rebuild_wrapper_subclass", "_rebuild_device_tensor_from_cpu_tensor", "_rebuild_tensor_v2",
    "_rebuild_qtensor", "_rebuild_device_tensor_from_numpy"};

bool is_class_of(Names name, Names suffix, bool storages) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return has(kKinds, name) || (storages && has(kOtherStorages, name));
}

}  // namespace

bool default_allowed(std::string_view module, std::string_view name) {
  if (module == "torch._utils") return has(kRebuild, name);
  if (module == "torch")
    return name == "Size" || name == "Tensor" || name == "device" || has(kDtypes, name) ||
           has(kSchemes, name) || is_class_of(name, "Tensor", false) ||
           is_class_of(name, "Storage", true);
  if (module == "collections") return name == "OrderedDict" || name == "Counter";
  if (module == "builtins") return name == "set" || name == "bytearray" || name == "complex";
  if (module == "torch.nn.parameter") return name == "Parameter";
  if (module == "torch.storage") return name == "TypedStorage" || name == "UntypedStorage";
  if (module == "torch._tensor") return name == "_rebuild_from_type_v2";
  if (module == "torch.serialization") return name == "_get_layout";
  if (module == "_codecs") return name == "encode";
  if (module == "torch.cuda")
    return is_class_of(name, "Tensor", false) || is_class_of(name, "Storage", true);
  if (module == "torch.sparse" || module == "torch.cuda.sparse")
    return is_class_of(name, "Tensor", false);
  return false;
}

}  // namespace rl::serialize
