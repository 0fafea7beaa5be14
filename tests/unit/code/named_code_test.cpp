// Addresses of code that a file names, and restartable sequences.
#include "runtime/code/named_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "runtime/code/restarts.h"

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
  NamedCode find() const { return find_named_code(naming()); }
  RestartableSequences sequences() const { return find_restartable_sequences(naming()); }
  NamingFile naming() const {
    return {file_, {&code_, 1}, {&data_, 1}, {kBytes, has_dynamic_ ? kBytes : 0, kData}, 0, is_fixed_};
  }

  std::vector<unsigned char> file_ = std::vector<unsigned char>(2 * kBytes);
  FileSegment code_{0, kBytes, kCode}, data_{kBytes, kBytes, kData};
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

// Words that cannot be addresses are skipped several bytes at a time.
TEST_F(NamedCodeTest, MissesNoWordWhereverItLies) {
  using Words = std::vector<std::pair<uint64_t, uint64_t>>;
  constexpr std::array<unsigned char, 6> kUsual = {0, 0, 0, 1, 0x10, 0xff};
  std::minstd_rand random(1);
  for (int i = 0; i < 1000; i++) {
    for (unsigned char& byte : file_) byte = kUsual[random() % kUsual.size()];
    for (const auto& [first, last] :
         {std::pair<uint64_t, uint64_t>{1, 0x10ff}, {0x1001, UINT32_MAX}, {0x10'0000'0000, 0x11'ffff'ffff}}) {
      Words found, expected;
      naming().each_word(first, last, [&](uint64_t word, uint64_t place) { found.emplace_back(word, place); });
      for (const FileSegment& one : {code_, data_})
        for (uint64_t offset = 0, word; load_value(CodeBytes(file_).subspan(one.offset, one.size), offset, word); offset++)
          if (word >= first && word <= last) expected.emplace_back(word, one.address + offset);
      EXPECT_EQ(found, expected);
    }
  }
}

// struct rseq_cs: where the sequence begins, its size, and where it is aborted.
TEST_F(NamedCodeTest, IsARestartableSequence) {
  put(kCode + 0x7c, uint32_t{0x53053053});
  put(kData, std::array<Elf64_Dyn, 2>{{{DT_RELA, {kData + 0x80}}, {DT_RELASZ, {2 * sizeof(Elf64_Rela)}}}});
  put(kData + 0x80, std::array<Elf64_Rela, 2>{
                        {{kData + 0x108, R_X86_64_RELATIVE, kCode + 0x20}, {kData + 0x118, R_X86_64_RELATIVE, kCode + 0x80}}});
  put(kData + 0x110, uint64_t{0x10});
  for (is_fixed_ = false;; is_fixed_ = true, has_dynamic_ = false) {
    const RestartableSequences found = sequences();
    EXPECT_TRUE(found.overlap(kCode + 0x2f, kCode + 0x34));
    EXPECT_TRUE(found.overlap(kCode + 0x1c, kCode + 0x20));
    EXPECT_FALSE(found.overlap(kCode + 0x30, kCode + 0x34));
    EXPECT_FALSE(found.overlap(kCode + 0x1b, kCode + 0x1f));
    EXPECT_TRUE(find().has_inside(kCode + 0x7f, kCode + 0x80));
    EXPECT_TRUE(found.overlap(kCode + 0x7c, kCode + 0x7c));
    EXPECT_FALSE(found.overlap(kCode + 0x80, kCode + 0x84));
    if (is_fixed_) break;
    put(kData + 0x108, uint64_t{kCode + 0x20}), put(kData + 0x118, uint64_t{kCode + 0x80});
  }
}

TEST_F(NamedCodeTest, IsARestartableSequenceOfAnyLength) {
  constexpr uint64_t kAborted = kCode + 0x20, kFirst = kCode + 0x40, kSize = 0x2000;
  is_fixed_ = true, has_dynamic_ = false;
  put(kAborted - 4, uint32_t{0x53053053});
  put(kData + 0x108, std::array<uint64_t, 3>{kFirst, kSize, kAborted});
  EXPECT_TRUE(sequences().overlap(kFirst + kSize - 1, kFirst + kSize - 1));
  EXPECT_FALSE(sequences().overlap(kFirst + kSize, kFirst + kSize));
  for (const uint64_t unusable : {UINT64_MAX, uint64_t{0}}) {
    put(kData + 0x110, unusable);
    EXPECT_FALSE(sequences().overlap(kFirst, kFirst)) << unusable;
  }
  put(kData + 0x108, std::array<uint64_t, 2>{kCode, kAborted - kCode + 1});  // it would continue in itself
  EXPECT_FALSE(sequences().overlap(kCode, kCode));
}

TEST_F(NamedCodeTest, HasSequencesThatMayBeTooMany) {
  is_fixed_ = true, has_dynamic_ = false;
  put(kCode + 0x1c, uint32_t{0x53053053});
  data_.size = 0x8000;
  file_.resize(kBytes + data_.size);
  constexpr uint64_t kMost = 2048, kPlace = kCode + 0x100;
  for (uint64_t i = 0; i < kMost; i++) put(kData + 8 * i, uint64_t{kCode + 0x20});
  EXPECT_FALSE(sequences().overlap(kPlace, kPlace));
  put(kData + 8 * kMost, uint64_t{kCode + 0x20});
  EXPECT_TRUE(sequences().overlap(kPlace, kPlace));
}

// As an operand of code that registers sequences.
TEST_F(NamedCodeTest, IsNoSequenceByItsSignatureAlone) {
  put(kCode + 0x7c, uint32_t{0x53053053});
  for (const bool is_fixed : {false, true}) {
    is_fixed_ = is_fixed;
    EXPECT_TRUE(sequences().ranges.empty());
    EXPECT_FALSE(sequences().overlap(0, UINT64_MAX));
  }
}

TEST_F(NamedCodeTest, HasSignaturesThatMayBeTooMany) {
  constexpr uint64_t kMost = 65536, kSignature = 4;
  code_ = {file_.size(), kSignature * kMost + 1, 0x10000};
  for (const bool are_too_many : {false, true}) {
    file_.resize(code_.offset);
    for (uint64_t i = 0; i < kMost + are_too_many; i++) file_.insert(file_.end(), {0x53, 0x30, 0x05, 0x53});
    file_.push_back(0), code_.size = file_.size() - code_.offset;
    EXPECT_EQ(sequences().overlap(kCode, kCode), are_too_many);
  }
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
