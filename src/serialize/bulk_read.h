// Reads many records of a file into memory at once, on several threads, checking them on the way
// while they are in the cache.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rl::serialize {

struct ReadJob {
  uint64_t offset;  // in the file
  void* out;
  uint64_t size;
  uint32_t crc;     // expected checksum; 0: not known
};

enum class ReadResult : uint8_t { Good, Short, BadChecksum };

// Throws rl::Error if the file cannot be read at all.
std::vector<ReadResult> read_all(int fd, std::span<const ReadJob> jobs);

}  // namespace rl::serialize
