// Devices, layouts and memory formats: small value types.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace rl {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, MPS = 13, Meta = 14, XPU = 12 };

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = -1;
  bool is_cpu() const { return type == DeviceType::CPU; }
  bool is_meta() const { return type == DeviceType::Meta; }
  bool is_cuda() const { return type == DeviceType::CUDA; }
  friend bool operator==(Device a, Device b) { return a.type == b.type && a.index == b.index; }
};
Device parse_device(std::string_view text);  // "cpu", "cuda:1", "meta"; throws Runtime
const char* device_type_name(DeviceType t);
void append(std::string& s, Device d);

enum class Layout : int8_t {
  Strided = 0, Sparse = 1, SparseCsr = 2, Mkldnn = 3, SparseCsc = 4, SparseBsr = 5, SparseBsc = 6,
  Jagged = 7
};
const char* layout_name(Layout l);  // "torch.strided"

enum class MemoryFormat : int8_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3
};

}  // namespace rl
