// Jobs are cut into pieces of equal size, so that one large tensor is spread over the threads too;
// the checksums of the pieces are then put together.
#include "serialize/bulk_read.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/check.h"
#include "base/parallel.h"
#include "serialize/bytes.h"
#include "serialize/crc32.h"

namespace rl::serialize {
namespace {

constexpr uint64_t kPiece = 1 << 20, kBlock = 128 << 10;
constexpr size_t kPiecesPerThread = 16;  // for less, starting a thread does not pay

struct Piece {
  size_t job;
  uint64_t at, size;
  uint32_t crc = 0;
  bool complete = false;
};

void read_piece(const FileSource& file, const ReadJob& job, Piece& piece) {
  char* out = static_cast<char*>(job.out) + piece.at;
  for (uint64_t done = 0; done < piece.size;) {
    const size_t n = size_t(std::min(kBlock, piece.size - done));
    if (file.read(job.offset + piece.at + done, out + done, n) != n) return;
    if (job.crc) piece.crc = crc32(out + done, n, piece.crc);
    done += n;
  }
  piece.complete = true;
}

}  // namespace

std::vector<ReadResult> read_all(int fd, std::span<const ReadJob> jobs) {
  const FileSource file(fd);
  std::vector<Piece> pieces;
  for (size_t j = 0; j < jobs.size(); ++j)
    for (uint64_t at = 0; at < jobs[j].size; at += kPiece)
      pieces.push_back({j, at, std::min(kPiece, jobs[j].size - at)});
  // Own threads, not the pool of the kernels: reading mostly waits, and the pool's threads spin.
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  auto work = [&] {
    try {
      for (size_t i; (i = next++) < pieces.size();)
        read_piece(file, jobs[pieces[i].job], pieces[i]);
    } catch (const Error&) {
      failed = true;
    }
  };
  std::vector<std::thread> helpers;
  const size_t count =
      std::min<size_t>({pieces.size() / kPiecesPerThread, size_t(num_threads()), 4});
  for (size_t i = 1; i < count; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& t : helpers) t.join();
  check(!failed, "cannot read the file");
  std::vector<ReadResult> results(jobs.size(), ReadResult::Good);
  std::vector<uint32_t> sums(jobs.size());
  for (const Piece& p : pieces) {
    if (!p.complete) results[p.job] = ReadResult::Short;
    sums[p.job] = p.at ? crc32_combine(sums[p.job], p.crc, p.size) : p.crc;
  }
  for (size_t j = 0; j < jobs.size(); ++j)
    if (results[j] == ReadResult::Good && jobs[j].crc && jobs[j].size && sums[j] != jobs[j].crc)
      results[j] = ReadResult::BadChecksum;
  return results;
}

}  // namespace rl::serialize
