// The records of a zip archive, field by field.
#include "serialize/zip_writer.h"

#include <algorithm>

#include "base/check.h"
#include "serialize/crc32.h"

namespace rl::serialize {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMax32 = 0xFFFFFFFFu;
constexpr uint16_t kUtf8 = 0x0800, kSizesFollow = 0x0008;

class Fields {
 public:
  Fields& u16(uint64_t v) { return add(v, 2); }
  Fields& u32(uint64_t v) { return add(v, 4); }
  Fields& u64(uint64_t v) { return add(v, 8); }
  std::string bytes;

 private:
  Fields& add(uint64_t v, int n) {
    for (int i = 0; i < n; ++i) bytes += char(v >> 8 * i & 255);
    return *this;
  }
};

uint16_t flags_of(uint64_t size) { return size ? kUtf8 | kSizesFollow : kUtf8; }

}  // namespace

ZipWriter::ZipWriter(Sink sink, std::string folder, bool compute_crc)
    : sink_(std::move(sink)), folder_(std::move(folder)), compute_crc_(compute_crc) {}

void ZipWriter::put(std::string_view data) {
  sink_(data.data(), data.size());
  at_ += data.size();
}

void ZipWriter::write(std::string_view name, const void* data, size_t n) {
  Entry entry{folder_ + "/" + std::string(name), at_, n, 0};
  check(entry.name.size() < 65536, "the name of a record is too long");
  if (compute_crc_) entry.crc = crc32(data, n);
  // The extra field is filler up to the next aligned position.
  const uint64_t start = at_ + 30 + entry.name.size() + 4;
  const uint64_t fill = (kAlignment - start % kAlignment) % kAlignment;
  Fields head;
  head.u32(0x04034B50).u16(0).u16(flags_of(n)).u16(0).u32(0).u32(0).u32(0).u32(0);
  head.u16(entry.name.size()).u16(4 + fill);
  Fields extra;
  extra.bytes = "FB";
  extra.u16(fill);
  put(head.bytes + entry.name + extra.bytes + std::string(fill, 'Z'));
  if (n) {
    put({static_cast<const char*>(data), n});
    Fields after;
    after.u32(0x08074B50).u32(entry.crc);
    if (n >= kMax32) after.u64(n).u64(n);
    else after.u32(n).u32(n);
    put(after.bytes);
  }
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const uint64_t start = at_;
  for (const Entry& e : entries_) {
    Fields wide;
    if (e.size >= kMax32) wide.u64(e.size).u64(e.size);
    if (e.offset >= kMax32) wide.u64(e.offset);
    Fields extra;
    if (!wide.bytes.empty()) extra.u16(1).u16(wide.bytes.size());
    const uint64_t size = std::min(e.size, kMax32), offset = std::min(e.offset, kMax32);
    Fields f;
    f.u32(0x02014B50).u16(0).u16(0).u16(flags_of(e.size)).u16(0).u32(0).u32(e.crc);
    f.u32(size).u32(size).u16(e.name.size()).u16(extra.bytes.size() + wide.bytes.size());
    f.u16(0).u16(0).u16(0).u32(0).u32(offset);
    put(f.bytes + e.name + extra.bytes + wide.bytes);
  }
  const uint64_t size = at_ - start, end64 = at_, n = entries_.size();
  Fields f;
  f.u32(0x06064B50).u64(44).u16(0x031E).u16(45).u32(0).u32(0).u64(n).u64(n).u64(size).u64(start);
  f.u32(0x07064B50).u32(0).u64(end64).u32(1);
  const uint64_t m = std::min<uint64_t>(n, 0xFFFF);
  f.u32(0x06054B50).u16(0).u16(0).u16(m).u16(m).u32(std::min(size, kMax32));
  f.u32(std::min(start, kMax32)).u16(0);
  put(f.bytes);
}

}  // namespace rl::serialize
