// src/serialize: the checksum, archives written and read back, damaged archives, and the pickle
// reader on good, forbidden and damaged pickles.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "serialize/bulk_read.h"
#include "serialize/crc32.h"
#include "serialize/unpickler.h"
#include "serialize/zip_reader.h"
#include "serialize/zip_writer.h"

using namespace rl;
using namespace rl::serialize;

namespace {

uint32_t plain_crc(const std::string& s) {
  uint32_t c = ~0u;
  for (unsigned char b : s) {
    c ^= b;
    for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xEDB88320u : 0);
  }
  return ~c;
}

std::string noise(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string s(n, '\0');
  for (char& c : s) c = char(random());
  return s;
}

std::string archive(bool crc = true) {
  std::string out;
  ZipWriter w([&](const void* p, size_t n) { out.append(static_cast<const char*>(p), n); }, "a",
              crc);
  w.write("data.pkl", "hello");
  w.write("empty", "");
  w.write("data/0", noise(1000, 1));
  w.finish();
  return out;
}

// A pickle of protocol 2 from its opcodes.
PickleTree parse(const std::string& ops) {
  static std::deque<std::string> kept;  // trees point into their pickles
  return parse_pickle(kept.emplace_back(ops));
}

std::string refusal(const std::string& ops) {
  try {
    parse(ops);
  } catch (const PickleError& e) {
    return e.what();
  }
  return "";
}

using namespace std::string_literals;

TEST(Crc32, KnownAndAgainstPlain) {
  EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u);
  EXPECT_EQ(crc32("", 0), 0u);
  for (size_t n : {1, 15, 16, 63, 64, 65, 79, 80, 127, 128, 129, 1000, 4096, 100001}) {
    std::string s = noise(n, unsigned(n));
    EXPECT_EQ(crc32(s.data(), n), plain_crc(s)) << n;
    uint32_t first = crc32(s.data(), n / 3);
    EXPECT_EQ(crc32(s.data() + n / 3, n - n / 3, first), plain_crc(s)) << n;
    uint32_t second = crc32(s.data() + n / 3, n - n / 3);
    EXPECT_EQ(crc32_combine(first, second, n - n / 3), plain_crc(s)) << n;
  }
}

TEST(BulkRead, GoodBadAndShort) {
  std::string data = noise(9'000'000, 3);
  FILE* file = std::tmpfile();
  ASSERT_EQ(std::fwrite(data.data(), 1, data.size(), file), data.size());
  std::fflush(file);
  std::string a(8'500'000, 0), b(100, 0), c(200, 0), d(10, 0);
  std::vector<ReadJob> jobs{{7, a.data(), a.size(), crc32(data.data() + 7, a.size())},
                            {5, b.data(), b.size(), 12345},
                            {data.size() - 100, c.data(), c.size(), 0},
                            {0, d.data(), d.size(), 0}};
  auto results = read_all(fileno(file), jobs);
  std::fclose(file);
  EXPECT_EQ(results, (std::vector{ReadResult::Good, ReadResult::BadChecksum, ReadResult::Short,
                                  ReadResult::Good}));
  EXPECT_EQ(a, data.substr(7, a.size()));
  EXPECT_EQ(d, data.substr(0, 10));
}

TEST(Zip, RoundTrip) {
  std::string file = archive();
  MemorySource source(file);
  ZipReader r(source);
  EXPECT_EQ(r.folder(), "a");
  EXPECT_EQ(r.records().size(), 3u);
  EXPECT_EQ(r.read("data.pkl"), "hello");
  EXPECT_EQ(r.read("empty"), "");
  EXPECT_EQ(r.read("data/0"), noise(1000, 1));
  EXPECT_EQ(r.data_offset(r.at("data/0")) % 64, 0u);
  EXPECT_FALSE(r.has("nothing"));
  EXPECT_THROW(r.read("nothing"), Error);
}

TEST(Zip, EveryBitFlipInDataIsFound) {
  std::string file = archive();
  MemorySource good(file);
  const ZipReader reader(good);
  const ZipRecord& record = reader.at("data/0");
  const uint64_t at = reader.data_offset(record);
  for (size_t i = 0; i < record.size; i += 37) {
    std::string bad = file;
    bad[at + i] = char(bad[at + i] ^ 1 << i % 8);
    MemorySource source(bad);
    EXPECT_THROW(ZipReader(source).read("data/0"), Error);
  }
}

TEST(Zip, TruncationIsFound) {
  std::string file = archive();
  for (size_t n = 0; n < file.size(); n += 7) {
    MemorySource source(std::string_view(file).substr(0, n));
    EXPECT_THROW(ZipReader r(source), Error) << n;
  }
}

TEST(Zip, DamageNeverCrashes) {
  const std::string file = archive();
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = file;
    for (unsigned k = 0; k <= random() % 3; ++k) bad[random() % bad.size()] = char(random());
    MemorySource source(bad);
    try {
      ZipReader r(source);
      for (auto& record : r.records()) r.read(record.name);
    } catch (const Error&) {
    }
  }
}

TEST(Pickle, PlainValues) {
  auto t = parse("\x80\x02](NK\x07J\xff\xff\xff\xffX\x02\0\0\0hiG?\xf8\0\0\0\0\0\0\x88}e."s);
  ASSERT_EQ(t.kind(t.root()), NodeKind::List);
  auto items = t.items(t.root());
  ASSERT_EQ(items.size(), 7u);
  EXPECT_EQ(t.kind(items[0]), NodeKind::None);
  EXPECT_EQ(t.integer(items[1]), 7);
  EXPECT_EQ(t.integer(items[2]), -1);
  EXPECT_EQ(t.text(items[3]), "hi");
  EXPECT_EQ(t.real(items[4]), 1.5);
  EXPECT_EQ(t.kind(items[5]), NodeKind::True);
  EXPECT_EQ(t.kind(items[6]), NodeKind::Dict);
}

TEST(Pickle, LongNumbers) {
  auto t = parse("\x80\x02(\x8a\x01\x80\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"
                 "\x8a\x09\0\0\0\0\0\0\0\0\x01L123L\nt."s);
  auto items = t.items(t.root());
  EXPECT_EQ(t.integer(items[0]), -128);
  EXPECT_EQ(t.integer(items[1]), INT64_MAX);
  EXPECT_EQ(t.kind(items[2]), NodeKind::BigInt);
  EXPECT_EQ(t.integer(items[3]), 123);
}

TEST(Pickle, SharedAndCyclic) {
  auto t = parse("\x80\x02]q\0(h\0h\0e."s);
  auto items = t.items(t.root());
  EXPECT_EQ(items[0], t.root());
  EXPECT_EQ(items[1], t.root());
}

TEST(Pickle, ObjectsKeepTheirActions) {
  auto t = parse("\x80\x02""ccollections\nOrderedDict\n)RK\x01K\x02s}b."s);
  ASSERT_EQ(t.kind(t.root()), NodeKind::Object);
  auto& o = t.object(t.root());
  EXPECT_EQ(t.module(o.callable), "collections");
  EXPECT_EQ(t.name(o.callable), "OrderedDict");
  ASSERT_EQ(o.actions.size(), 2u);
  EXPECT_EQ(o.actions[0].kind, PickleAction::SetItems);
  EXPECT_EQ(o.actions[1].kind, PickleAction::Build);
}

TEST(Pickle, ForbiddenNames) {
  EXPECT_NE(refusal("cos\nsystem\n(X\2\0\0\0lstR."s).find("blocked"), std::string::npos);
  EXPECT_NE(refusal("cbuiltins\neval\n."s).find("Unsupported global: GLOBAL eval"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x04\x8c\x08""builtins\x8c\x04""exec\x93."s).find("exec"),
            std::string::npos);
  EXPECT_NE(refusal("c__builtin__\ngetattr\n."s).find("getattr"), std::string::npos);
  PickleOptions mine;
  mine.allowed = [](std::string_view m, std::string_view n) { return m == "m" && n == "f"; };
  EXPECT_NO_THROW(parse_pickle("cm\nf\n.", mine));
  EXPECT_THROW(parse_pickle("ctorch\nSize\n.", mine), PickleError);
}

TEST(Pickle, OnlyNamesAreCalled) {
  EXPECT_NE(refusal("\x80\x02K\x01)R."s), "");
  EXPECT_NE(refusal("\x80\x02]K\x01""b."s), "");
  EXPECT_NE(refusal("\x80\x02X\1\0\0\0xQ."s), "");
}

TEST(Pickle, Damage) {
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("."s), "");
  EXPECT_NE(refusal("h\1."s), "");
  EXPECT_NE(refusal("e."s), "");
  EXPECT_NE(refusal("X\xff\xff\xff\xff."s), "");
  EXPECT_NE(refusal("\x8e\xff\xff\xff\xff\xff\xff\xff\xff."s), "");
  EXPECT_NE(refusal("(K\1d."s), "");
  EXPECT_NE(refusal("\x80\x09."s), "");
  EXPECT_NE(refusal("\x8b\xff\xff\xff\xff."s), "");
}

TEST(Pickle, Limits) {
  std::string deep = ")";
  for (int i = 0; i < 100000; ++i) deep += '\x85';
  EXPECT_NE(refusal(deep + ".").find("nested"), std::string::npos);
  PickleOptions few;
  few.max_nodes = 100;
  std::string many(1000, ']');
  many += '.';
  EXPECT_THROW(parse_pickle(many, few), PickleError);
}

TEST(Pickle, Consumed) {
  size_t n = 0;
  parse_pickle("K\1.K\2.", {}, &n);
  EXPECT_EQ(n, 3u);
}

}  // namespace
