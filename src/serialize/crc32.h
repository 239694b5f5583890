// CRC-32 (IEEE 802.3, as in zip files), with carry-less multiplication where the processor has it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rl::serialize {

// The checksum of `n` bytes, continuing from the checksum `seed` of what came before.
uint32_t crc32(const void* data, size_t n, uint32_t seed = 0);

// The checksum of two pieces one after the other, from theirs; `n` is the second one's length.
uint32_t crc32_combine(uint32_t first, uint32_t second, uint64_t n);

}  // namespace rl::serialize
