// Addresses of code that a file names.
#include "runtime/code/named_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace dvm::runtime {
namespace {

constexpr uint64_t kCode = 0x1000, kData = 0x2000, kBytes = 0x200;

// A segment of code, and behind it one of data.
class NamedCodeTest : public testing::Test {
 protected:
  template <class T>
  void put(uint64_t address, const T& value) {
    std::memcpy(file_.data() + (address >= kData ? address - kData + kBytes : address - kCode), &value, sizeof value);
  }
  NamedCode find() const {
    const FileSegment code{0, kBytes, kCode}, data{kBytes, data_bytes_, kData};
    return find_named_code({file_, {&code, 1}, {&data, 1}, {kBytes, has_dynamic_ ? kBytes : 0, kData}, 0, is_fixed_});
  }

  std::vector<unsigned char> file_ = std::vector<unsigned char>(2 * kBytes);
  uint64_t data_bytes_ = kBytes;
  bool is_fixed_ = false, has_dynamic_ = true;
};

using Addresses = std::vector<uint64_t>;

TEST_F(NamedCodeTest, IsRelocated) {
  put(kData,
      std::array<Elf64_Dyn, 3>{{{DT_RELA, {kData + 0x80}}, {DT_RELASZ, {3 * sizeof(Elf64_Rela)}}, {DT_SYMTAB, {kData + 0x100}}}});
  put(kData + 0x80, std::array<Elf64_Rela, 3>{{{kData, R_X86_64_RELATIVE, kCode + 0x12},
                                               {kData, ELF64_R_INFO(1, R_X86_64_64), 3},
                                               {kData, R_X86_64_RELATIVE, kData + 8}}});
  put(kData + 0x118, Elf64_Sym{0, 0, 0, 1, kCode + 0x40, 0});
  EXPECT_EQ(find().addresses, (Addresses{kCode + 0x12, kCode + 0x43}));
}

TEST_F(NamedCodeTest, IsRelocatedByPackedWords) {
  put(kData, std::array<Elf64_Dyn, 2>{{{DT_RELR, {kData + 0x80}}, {DT_RELRSZ, {16}}}});
  put(kData + 0x80, std::array<uint64_t, 2>{kData + 0x100, 0b101});  // there, and in the second word behind it
  put(kData + 0x100, std::array<uint64_t, 3>{kCode + 1, kCode + 2, kCode + 3});
  EXPECT_EQ(find().addresses, (Addresses{kCode + 1, kCode + 3}));
}

TEST_F(NamedCodeTest, IsTakenByInstructions) {
  has_dynamic_ = false;
  put(kCode + 8, std::array<unsigned char, 7>{0x48, 0x8d, 0x05, 0x11, 0, 0, 0});
  put(kCode + 0x20, std::array<unsigned char, 5>{0xbf, 0x55, 0x10, 0, 0});  // mov $0x1055, %edi
  EXPECT_EQ(find().addresses, Addresses{kCode + 0x20});
  is_fixed_ = true;
  EXPECT_EQ(find().taken, (Addresses{kCode + 0x20, kCode + 0x55}));
}

TEST_F(NamedCodeTest, IsTakenByTheFirstInstructionOfASegment) {
  is_fixed_ = true, has_dynamic_ = false;
  put(kCode, std::array<unsigned char, 5>{0xbf, 0x55, 0x10, 0, 0});
  EXPECT_EQ(find().taken, Addresses{kCode + 0x55});
}

TEST_F(NamedCodeTest, IsAnyWordWhereAddressesAreFixed) {
  has_dynamic_ = false;
  put(kData + 0x13, uint64_t{kCode + 0x77});
  EXPECT_TRUE(find().addresses.empty());
  is_fixed_ = true;
  const NamedCode named = find();
  EXPECT_EQ(named.addresses, Addresses{kCode + 0x77});
  EXPECT_TRUE(named.has_inside(kCode + 0x76, kCode + 0x77));
  EXPECT_FALSE(named.has_inside(kCode + 0x77, kCode + 0x78));
}

// struct rseq_cs: where the sequence begins, its size, and where it is aborted.
TEST_F(NamedCodeTest, IsARestartableSequence) {
  put(kCode + 0x7c, uint32_t{0x53053053});
  put(kData, std::array<Elf64_Dyn, 2>{{{DT_RELA, {kData + 0x80}}, {DT_RELASZ, {2 * sizeof(Elf64_Rela)}}}});
  put(kData + 0x80, std::array<Elf64_Rela, 2>{
                        {{kData + 0x108, R_X86_64_RELATIVE, kCode + 0x20}, {kData + 0x118, R_X86_64_RELATIVE, kCode + 0x80}}});
  put(kData + 0x110, uint64_t{0x10});
  for (is_fixed_ = false;; is_fixed_ = true, has_dynamic_ = false) {
    const NamedCode named = find();
    EXPECT_TRUE(named.has_inside(kCode + 0x2f, kCode + 0x34));
    EXPECT_TRUE(named.has_inside(kCode + 0x1c, kCode + 0x20));
    EXPECT_FALSE(named.has_inside(kCode + 0x30, kCode + 0x34));
    EXPECT_FALSE(named.has_inside(kCode + 0x1b, kCode + 0x1f));
    EXPECT_TRUE(named.has_inside(kCode + 0x7f, kCode + 0x80));
    EXPECT_TRUE(named.is_restarted(kCode + 0x7c, kCode + 0x7c));
    EXPECT_FALSE(named.is_restarted(kCode + 0x80, kCode + 0x84));
    if (is_fixed_) break;
    put(kData + 0x108, uint64_t{kCode + 0x20}), put(kData + 0x118, uint64_t{kCode + 0x80});
  }
}

TEST_F(NamedCodeTest, IsARestartableSequenceOfAnyLength) {
  constexpr uint64_t kAborted = kCode + 0x20, kFirst = kCode + 0x40, kSize = 0x2000;
  is_fixed_ = true, has_dynamic_ = false;
  put(kAborted - 4, uint32_t{0x53053053});
  put(kData + 0x108, std::array<uint64_t, 3>{kFirst, kSize, kAborted});
  EXPECT_TRUE(find().is_restarted(kFirst + kSize - 1, kFirst + kSize - 1));
  EXPECT_FALSE(find().is_restarted(kFirst + kSize, kFirst + kSize));
  for (const uint64_t unusable : {UINT64_MAX, uint64_t{0}}) {
    put(kData + 0x110, unusable);
    EXPECT_FALSE(find().is_restarted(kFirst, kFirst)) << unusable;
  }
  put(kData + 0x108, std::array<uint64_t, 2>{kCode, kAborted - kCode + 1});  // it would continue in itself
  EXPECT_FALSE(find().is_restarted(kCode, kCode));
}

TEST_F(NamedCodeTest, HasSequencesThatMayBeTooMany) {
  is_fixed_ = true, has_dynamic_ = false;
  put(kCode + 0x1c, uint32_t{0x53053053});
  data_bytes_ = 0x8000;
  file_.resize(kBytes + data_bytes_);
  constexpr uint64_t kMost = 2048, kPlace = kCode + 0x100;
  for (uint64_t i = 0; i < kMost; i++) put(kData + 8 * i, uint64_t{kCode + 0x20});
  EXPECT_FALSE(find().is_restarted(kPlace, kPlace));
  put(kData + 8 * kMost, uint64_t{kCode + 0x20});
  EXPECT_TRUE(find().is_restarted(kPlace, kPlace));
}

TEST_F(NamedCodeTest, HasTablesThatMayBeCutShort) {
  for (const uint64_t size : {uint64_t{7}, UINT64_MAX}) {
    put(kData, std::array<Elf64_Dyn, 4>{
                   {{DT_RELA, {kData + kBytes - 8}}, {DT_RELASZ, {size}}, {DT_RELR, {kData + kBytes - 8}}, {DT_RELRSZ, {size}}}});
    put(kData + kBytes - 8, UINT64_MAX);
    EXPECT_TRUE(find().addresses.empty());
  }
}

}  // namespace
}  // namespace dvm::runtime
