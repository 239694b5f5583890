// Writes archives in the layout of torch.save: stored records in one folder, data at multiples of
// 64 bytes, sizes and checksum after the data and in the directory, zip64 records at the end.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serialize/bytes.h"

namespace rl::serialize {

class ZipWriter {
 public:
  using Sink = std::function<void(const void* data, size_t n)>;

  ZipWriter(Sink sink, std::string folder, bool compute_crc = true);

  void write(std::string_view name, const void* data, size_t n);
  void write(std::string_view name, std::string_view data) {
    write(name, data.data(), data.size());
  }
  // Writes the directory; nothing may follow.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t offset, size;
    uint32_t crc;
  };
  void put(std::string_view data);

  Sink sink_;
  std::string folder_;
  bool compute_crc_;
  uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace rl::serialize
