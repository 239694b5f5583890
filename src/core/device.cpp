#include "core/device.h"

#include "base/check.h"

namespace rl {
namespace {
struct DeviceName {
  DeviceType type;
  const char* name;
};
constexpr DeviceName kDevices[] = {{DeviceType::CPU, "cpu"},
                                   {DeviceType::CUDA, "cuda"},
                                   {DeviceType::Meta, "meta"},
                                   {DeviceType::MPS, "mps"},
                                   {DeviceType::XPU, "xpu"}};
}  // namespace

const char* device_type_name(DeviceType t) {
  for (auto& d : kDevices)
    if (d.type == t) return d.name;
  return "unknown";
}

Device parse_device(std::string_view text) {
  check(!text.empty(), "Device string must not be empty");
  size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  for (char c : name)
    check((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_', "Invalid device string: '",
          text, "'");
  Device out;
  bool found = false;
  for (auto& d : kDevices)
    if (name == d.name) {
      out.type = d.type;
      found = true;
    }
  check(found, "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, "
        "maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of "
        "device string: ", name);
  if (colon == std::string_view::npos) return out;
  std::string_view digits = text.substr(colon + 1);
  bool ok = !digits.empty() && digits.size() <= 3 && (digits.size() == 1 || digits[0] != '0');
  int index = 0;
  for (char c : digits) {
    ok = ok && c >= '0' && c <= '9';
    index = index * 10 + (c - '0');
  }
  check(ok && index < 128, "Invalid device string: '", text, "'");
  out.index = int8_t(index);
  return out;
}

void append(std::string& s, Device d) {
  s += device_type_name(d.type);
  if (d.index >= 0) s += ":" + std::to_string(int(d.index));
}

const char* layout_name(Layout l) {
  switch (l) {
    case Layout::Strided: return "torch.strided";
    case Layout::Sparse: return "torch.sparse_coo";
    case Layout::SparseCsr: return "torch.sparse_csr";
    case Layout::SparseCsc: return "torch.sparse_csc";
    case Layout::SparseBsr: return "torch.sparse_bsr";
    case Layout::SparseBsc: return "torch.sparse_bsc";
    case Layout::Mkldnn: return "torch._mkldnn";
    case Layout::Jagged: return "torch.jagged";
  }
  return "unknown";
}

}  // namespace rl
