// libFuzzer target for the file readers: each input is taken as a pickle and as a zip archive,
// whose records are read and whose data.pkl is parsed. Findings are crashes, sanitizer reports and
// inputs that take too long or too much memory; errors are thrown and expected.
//
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Isrc tests/fuzz/fuzz_reader.cpp
//     $(ls src/serialize/*.cpp | grep -v bulk_read) src/base/check.cpp -o fuzz_reader
//   ./fuzz_reader -max_len=65536 -rss_limit_mb=512 tests/fuzz/corpus
#include <cstdint>
#include <string_view>

#include "serialize/unpickler.h"
#include "serialize/zip_reader.h"

using namespace rl;
using namespace rl::serialize;

namespace {

// Touches every node, as a caller that builds the objects would.
size_t visit(const PickleTree& tree) {
  size_t sum = 0;
  for (NodeId id = 0; id < tree.size(); ++id) {
    sum += tree.children(id).size();
    switch (tree.kind(id)) {
      case NodeKind::Str: case NodeKind::OldStr: case NodeKind::Bytes: case NodeKind::ByteArray:
      case NodeKind::BigInt: case NodeKind::Decimal:
        for (char c : tree.text(id)) sum += size_t(c);
        break;
      case NodeKind::Global: sum += tree.module(id).size() + tree.name(id).size(); break;
      default: break;
    }
  }
  return sum;
}

void read_pickle(std::string_view data) {
  try {
    PickleOptions options;
    options.allowed = [](std::string_view m, std::string_view n) {
      return default_allowed(m, n) || m == "user";
    };
    volatile size_t sink = visit(parse_pickle(data, options));
    (void)sink;
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  read_pickle(input);
  try {
    MemorySource source(input);
    ZipReader reader(source);
    for (const ZipRecord& record : reader.records()) {
      try {
        std::string bytes = reader.read(record.name);
        if (record.name == "data.pkl") read_pickle(bytes);
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
