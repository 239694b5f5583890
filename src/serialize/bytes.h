// Sources of bytes for the readers of this folder: memory or a file, read at an offset.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rl::serialize {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Reads up to `n` bytes at `offset`; returns how many there were.
  virtual size_t read(uint64_t offset, void* out, size_t n) const = 0;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view data) : data_(data) {}
  uint64_t size() const override { return data_.size(); }
  size_t read(uint64_t offset, void* out, size_t n) const override;

 private:
  std::string_view data_;  // not owned
};

// A file by its descriptor, which stays the caller's.
class FileSource : public ByteSource {
 public:
  explicit FileSource(int fd);
  uint64_t size() const override { return size_; }
  size_t read(uint64_t offset, void* out, size_t n) const override;

 private:
  int fd_;
  uint64_t size_;
};

}  // namespace rl::serialize
