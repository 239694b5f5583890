// Finds the directory from the end of the file, then every record through it.
#include "serialize/zip_reader.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "serialize/crc32.h"

namespace rl::serialize {
namespace {

constexpr size_t kLocal = 30, kCentral = 46, kEnd = 22, kEnd64 = 56, kLocator = 20;

template <class T>
T get(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);  // zip files and the machines that we run on are little-endian
  return v;
}

[[noreturn]] void corrupt(std::string_view reason, std::string_view record = {}) {
  const std::string where = record.empty() ? std::string("reading zip archive")
                                           : "reading file " + std::string(record);
  fail("PytorchStreamReader failed ", where, ": ", reason,
       ". If you are seeing this error, there is a high likelihood that your checkpoint file is "
       "corrupted.");
}

const char* const kBadHeader = "invalid header or archive is corrupted";

// Replaces sizes and offset that did not fit in 32 bits by those of the zip64 field.
void apply_zip64(std::string_view extra, uint64_t& size, uint64_t& packed, uint64_t& offset) {
  auto p = reinterpret_cast<const uint8_t*>(extra.data());
  size_t at = 0;
  while (at + 4 <= extra.size()) {
    uint16_t tag = get<uint16_t>(p + at), length = get<uint16_t>(p + at + 2);
    at += 4;
    if (length > extra.size() - at) return;
    if (tag == 1) {
      size_t used = 0;
      for (uint64_t* field : {&size, &packed, &offset}) {
        if (*field != 0xFFFFFFFFu) continue;
        if (used + 8 > length) corrupt(kBadHeader);
        *field = get<uint64_t>(p + at + used);
        used += 8;
      }
    }
    at += length;
  }
}

}  // namespace

ZipReader::ZipReader(const ByteSource& source) : source_(source) {
  Directory dir = find_directory();
  std::string data(dir.size, '\0');
  if (source_.read(dir.offset, data.data(), data.size()) != data.size()) corrupt(kBadHeader);
  auto p = reinterpret_cast<const uint8_t*>(data.data());
  size_t at = 0;
  for (uint64_t i = 0; i < dir.count; ++i) {
    if (data.size() - at < kCentral || get<uint32_t>(p + at) != 0x02014B50) corrupt(kBadHeader);
    const uint8_t* e = p + at;
    const size_t name = get<uint16_t>(e + 28), extra = get<uint16_t>(e + 30);
    const size_t rest = name + extra + get<uint16_t>(e + 32);
    at += kCentral;
    if (rest > data.size() - at) corrupt(kBadHeader);
    uint64_t packed = get<uint32_t>(e + 20), size = get<uint32_t>(e + 24);
    uint64_t offset = get<uint32_t>(e + 42);
    std::string_view text(data);
    apply_zip64(text.substr(at + name, extra), size, packed, offset);
    if (get<uint16_t>(e + 10) != 0 || (get<uint16_t>(e + 8) & 1) || packed != size)
      corrupt("unsupported method", text.substr(at, name));
    add(text.substr(at, name), {{}, offset, size, get<uint32_t>(e + 16)}, dir.offset);
    at += rest;
  }
}

uint64_t ZipReader::find_end() const {
  const uint64_t total = source_.size();
  if (total < kEnd) corrupt("not a ZIP archive");
  const uint64_t start = total > 65535 + kEnd ? total - 65535 - kEnd : 0;
  std::string tail(total - start, '\0');
  tail.resize(source_.read(start, tail.data(), tail.size()));
  size_t at = tail.rfind("PK\5\6");
  while (at != std::string::npos && tail.size() - at < kEnd)
    at = at ? tail.rfind("PK\5\6", at - 1) : std::string::npos;
  if (at == std::string::npos) corrupt("failed finding central directory");
  return start + at;
}

ZipReader::Directory ZipReader::find_directory() const {
  const uint64_t end = find_end();
  uint8_t b[kEnd64];
  if (source_.read(end, b, kEnd) != kEnd) corrupt(kBadHeader);
  Directory dir{get<uint16_t>(b + 10), get<uint32_t>(b + 12), get<uint32_t>(b + 16)};
  if (end >= kLocator && source_.read(end - kLocator, b, kLocator) == kLocator &&
      get<uint32_t>(b) == 0x07064B50) {
    const uint64_t at = get<uint64_t>(b + 8);
    if (end < kEnd64 || at > end - kEnd64 || source_.read(at, b, kEnd64) != kEnd64 ||
        get<uint32_t>(b) != 0x06064B50)
      corrupt(kBadHeader);
    dir = {get<uint64_t>(b + 32), get<uint64_t>(b + 40), get<uint64_t>(b + 48)};
  }
  if (dir.offset > end || dir.size > end - dir.offset || dir.count > dir.size / kCentral)
    corrupt(kBadHeader);
  return dir;
}

void ZipReader::add(std::string_view name, ZipRecord record, uint64_t limit) {
  if (record.header > limit || record.size > limit - record.header) corrupt(kBadHeader);
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) corrupt("a record is outside of the archive's folder");
  if (records_.empty() && folder_.empty()) folder_ = name.substr(0, slash);
  if (name.substr(0, slash) != folder_) return;
  record.name = name.substr(slash + 1);
  index_[record.name] = records_.size();
  records_.push_back(std::move(record));
}

bool ZipReader::has(std::string_view name) const { return index_.count(std::string(name)) != 0; }

const ZipRecord& ZipReader::at(std::string_view name) const {
  auto it = index_.find(std::string(name));
  check(it != index_.end(), "PytorchStreamReader failed locating file ", name,
        ": file not found");
  return records_[it->second];
}

uint64_t ZipReader::data_offset(const ZipRecord& record) const {
  uint8_t b[kLocal];
  if (source_.read(record.header, b, kLocal) != kLocal || get<uint32_t>(b) != 0x04034B50)
    corrupt(kBadHeader, record.name);
  const uint64_t start = record.header + kLocal + get<uint16_t>(b + 26) + get<uint16_t>(b + 28);
  if (start > source_.size() || record.size > source_.size() - start)
    corrupt(kBadHeader, record.name);
  return start;
}

void ZipReader::read(const ZipRecord& record, void* out) const {
  if (source_.read(data_offset(record), out, record.size) != record.size)
    corrupt("unexpected end of file", record.name);
  if (record.crc && crc32(out, record.size) != record.crc)
    corrupt("CRC-32 check failed", record.name);
}

std::string ZipReader::read(std::string_view name) const {
  const ZipRecord& record = at(name);
  data_offset(record);  // before memory is taken
  std::string data(record.size, '\0');
  read(record, data.data());
  return data;
}

}  // namespace rl::serialize
