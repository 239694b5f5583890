// The strict reader of the zip archives that torch.save and torch.jit.save write. It trusts nothing
// in the file: offsets are checked before use, and nothing is allocated that the file cannot hold.
// Records must be stored, not compressed. Structures: PKWARE's APPNOTE.TXT 6.3.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serialize/bytes.h"

namespace rl::serialize {

struct ZipRecord {
  std::string name;  // without the archive's folder
  uint64_t header;   // offset of the local header
  uint64_t size;
  uint32_t crc;      // 0 where the writer computed none
};

class ZipReader {
 public:
  // Reads the directory. `source` must outlive the reader. Throws rl::Error on damage.
  explicit ZipReader(const ByteSource& source);

  const std::string& folder() const { return folder_; }
  const std::vector<ZipRecord>& records() const { return records_; }
  bool has(std::string_view name) const;
  // The record of that name. Throws if there is none.
  const ZipRecord& at(std::string_view name) const;
  // Offset of a record's data, for mapping the file; checks the local header.
  uint64_t data_offset(const ZipRecord& record) const;
  // Copies the data to `out`, which has room for `record.size` bytes; verifies the checksum.
  void read(const ZipRecord& record, void* out) const;
  std::string read(std::string_view name) const;

 private:
  struct Directory {
    uint64_t count, size, offset;
  };
  uint64_t find_end() const;
  Directory find_directory() const;
  void add(std::string_view name, ZipRecord record, uint64_t limit);

  const ByteSource& source_;
  std::string folder_;
  std::vector<ZipRecord> records_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace rl::serialize
