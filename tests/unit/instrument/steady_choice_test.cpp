// Which memory of a maps file is proposed as steady.

#include "runtime/agent/steady_choice.h"

#include <gtest/gtest.h>

#include <string>

namespace dvm::runtime {

static bool operator==(const AddressRange& a, const AddressRange& b) { return a.begin == b.begin && a.end == b.end; }

namespace {

using Ranges = std::vector<AddressRange>;

TEST(SteadyChoice, TakesPrivateMemoryWithoutAFile) {
  const MapsText found = read_maps_text(
      "10000-11000 rw-p 00000000 00:00 0 \n"
      "12000-13000 r--p 00000000 00:00 0 \n"
      "14000-15000 rw-p 00000000 00:00 0                          [heap]\n"
      "16000-17000 rw-p 00000000 00:00 0                          [anon:arena of a thread]\n"
      "20000-21000 rw-s 00000000 00:00 0                          [anon_shmem:shared]\n"
      "22000-23000 ---p 00000000 00:00 0 \n"
      "24000-25000 -w-p 00000000 00:00 0 \n"
      "26000-27000 rw-p 00001000 fe:00 1234                       /bin/program\n"
      "28000-29000 rw-p 00000000 00:10 5                          /anon_hugepage (deleted)\n"
      "30000-31000 r--p 00000000 00:00 0                          [vvar]\n"
      "32000-33000 rw-p 00000000 00:00 0                          [stack]\n"
      "34000-35000 rwxp 00000000 00:00 0 \n"
      "36000-37000 r-xp 00000000 00:00 0                          [vdso]\n"
      "38000-39000 rw-p 00000000 00:00 01 \n"
      "3a000-3b000 rw-s 00000000 00:00 0 \n"
      "no mapping\n"
      "40000-41000 rw-p 00000000 00:00 0");
  EXPECT_EQ(found.plain,
            (Ranges{{0x10000, 0x11000}, {0x12000, 0x13000}, {0x14000, 0x15000}, {0x16000, 0x17000}, {0x40000, 0x41000}}));
  EXPECT_EQ(found.heap, (AddressRange{0x14000, 0x15000}));
  ASSERT_EQ(found.code.size(), 2);
  EXPECT_EQ(found.code[0], "34000-35000 rwxp 00000000 00:00 0 ");
  EXPECT_EQ(found.others.size(), 11);
}

TEST(SteadyChoice, LeavesOutWhatFaultsAlthoughItIsMapped) {
  std::string text;
  uint64_t begin = 0x10000;
  const auto add = [&](const char* key, const char* flags) {
    char line[200];
    std::snprintf(line, sizeof line, "%lx-%lx rw-p 00000000 00:00 0 \nSize:  4 kB\nProtectionKey:  %8s\nVmFlags: %s \n", begin,
                  begin + 0x1000, key, flags);
    text += line, begin += 0x1000;
  };
  add("0", "rd wr mr mw me ac sd");
  add("1", "rd wr mr mw me ac sd");
  add("10", "rd wr um");
  add("0", "rd wr mr mw me ac um");
  add("0", "rd wr ui sd");
  add("0", "rd wr mr mw me ss");
  add("0", "rd wr sum umx");
  const MapsText found = read_maps_text(text);
  EXPECT_EQ(found.plain, (Ranges{{0x10000, 0x11000}, {0x16000, 0x17000}}));
  EXPECT_EQ(found.others.size(), 5);
}

// Of what cannot be read now, too: it may become readable, and keeps its key.
TEST(SteadyChoice, SeesKeysOfAllMappings) {
  const std::string plain = "10000-11000 rw-p 00000000 00:00 0 \nProtectionKey:         0\n",
                    closed = "12000-13000 ---p 00000000 00:00 0 \nProtectionKey:         ";
  EXPECT_FALSE(read_maps_text(plain).has_keys);
  EXPECT_FALSE(read_maps_text(plain + closed + "0\n").has_keys);
  EXPECT_TRUE(read_maps_text(closed + "3\n" + plain).has_keys);
}

TEST(SteadyChoice, JoinsRanges) {
  Ranges ranges{{0x5000, 0x6000}, {0x1000, 0x2000}, {0x2000, 0x3000}, {0x4000, 0x4000},
                {0x1800, 0x2800}, {0x9000, 0x8000}, {0x6000, 0x7000}};
  join_ranges(ranges);
  EXPECT_EQ(ranges, (Ranges{{0x1000, 0x3000}, {0x5000, 0x7000}}));
}

TEST(SteadyChoice, CutsRanges) {
  const Ranges ranges{{0x1000, 0x5000}, {0x6000, 0x9000}, {0xa000, 0xb000}};
  EXPECT_EQ(outside_of(ranges, {}), ranges);
  EXPECT_EQ(outside_of(ranges, {{0, 0xc000}}), Ranges{});
  EXPECT_EQ(outside_of(ranges, {{0, 0x1000}, {0x2000, 0x3000}, {0x4000, 0x7000}, {0xb000, 0xc000}}),
            (Ranges{{0x1000, 0x2000}, {0x3000, 0x4000}, {0x7000, 0x9000}, {0xa000, 0xb000}}));
}

TEST(SteadyChoice, PutsTheMostUrgentFirst) {
  const Ranges all{{0x1000, 0x2000}, {0x3000, 0x9000}, {0xa000, 0xb000}, {0xc000, 0xd000}, {0xe000, 0xf000}, {0x10000, 0x12000}};
  const SteadyWishes wishes{{0xc008, 0x700, 0x1000}, {0xe000, 0xf000}, {{0xa000, 0xa800}}};
  const Ranges order{{0xc000, 0xd000}, {0x1000, 0x2000}, {0xe000, 0xf000},
                     {0xa000, 0xb000}, {0x3000, 0x9000}, {0x10000, 0x12000}};
  EXPECT_EQ(choose_ranges(all, wishes, 48), order);
  EXPECT_EQ(choose_ranges(all, wishes, 4), Ranges(order.begin(), order.begin() + 4));
}

}  // namespace
}  // namespace dvm::runtime
