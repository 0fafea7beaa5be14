// Indirect jumps to computed addresses, and where they may lead.
#include "runtime/code/computed_jumps.h"

#include <gtest/gtest.h>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kCode = 0x10000, kData = 0x11000;

#define TO_DATA ".byte 0x48, 0x8d, 0x15\n .long 0x1000 - 7\n"  // lea 0x11000(%rip), %rdx, as the first instruction
#define TO_CODE ".byte 0x48, 0x8d, 0x15\n .long 0x40 - 7\n"

ASSEMBLED(by_words, TO_DATA " movswq (%rdx,%rdi,2), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
ASSEMBLED(by_entries, TO_DATA " movslq (%rdx,%rdi,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
ASSEMBLED(by_sum, TO_CODE " shl $3, %rdi\n add %rdi, %rdx\n mov %rdx, %r11\n jmp *%r11\n")
ASSEMBLED(by_called_sum, TO_CODE " lea (%rdx,%rdi,8), %rax\n call *%rax\n")
ASSEMBLED(of_argument, TO_CODE " mov %rdx, %rsi\n add $8, %rax\n mov 8(%rax), %rax\n jmp *%rax\n")
ASSEMBLED(by_address, TO_CODE " jmp *%rdx\n")
ASSEMBLED(by_choice, TO_CODE " mov 8(%rdi), %rax\n test %rax, %rax\n cmove %rdx, %rax\n jmp *%rax\n")
ASSEMBLED(by_copy, TO_CODE " add %rdi, %rdx\n mov %rdx, %rax\n cmp %rsi, %rdi\n mov %rax, %r9\n jmp *%r9\n")
ASSEMBLED(over_call, TO_CODE " call . + 0x4000\n add %rdi, %rdx\n jmp *%rdx\n")

class ComputedJumpsTest : public testing::Test {
 protected:
  std::vector<JumpReach> find(CodeBytes code) const {
    return find_computed_jumps({code, kCode, false, [](uint64_t address) { return address >= kCode && address < kData; },
                                [&](uint64_t address) { return address == kData ? CodeBytes(table_) : CodeBytes(); },
                                [&](uint64_t, uint64_t) { return is_one_; }});
  }
  bool leads_to(CodeBytes code, uint64_t address) const {
    for (const JumpReach& one : find(code))
      if (address >= one.first && address <= one.last) return true;
    return false;
  }

  std::vector<unsigned char> table_ = {0x10, 0xff, 0x20, 0xfe};  // -0xf0, -0x1e0
  bool is_one_ = false;
};

TEST_F(ComputedJumpsTest, LeadToEntriesOfTwoBytes) {
  EXPECT_TRUE(leads_to(by_words(), kData - 0xf0));
  EXPECT_TRUE(leads_to(by_words(), kData - 0x1e0));
  EXPECT_FALSE(leads_to(by_words(), kData - 0x500));
}

TEST_F(ComputedJumpsTest, LeadAnywhereNearAnAddressInCode) {
  for (const CodeBytes code : {by_sum(), by_called_sum(), by_copy()}) {
    EXPECT_TRUE(leads_to(code, kCode + 0x48));
    EXPECT_TRUE(leads_to(code, kCode + 0x2));
    EXPECT_FALSE(leads_to(code, kCode + 0x20000));
  }
}

TEST_F(ComputedJumpsTest, OfTheFunctionItselfDoNotCountButCallsDo) {
  is_one_ = true;
  EXPECT_TRUE(find(by_sum()).empty());
  EXPECT_FALSE(find(by_called_sum()).empty());
}

TEST_F(ComputedJumpsTest, AreNoJumpsByPointersNorByTablesOfCompilers) {
  for (const CodeBytes code : {by_entries(), of_argument(), by_address(), by_choice(), over_call()})
    EXPECT_TRUE(find(code).empty());
}

TEST_F(ComputedJumpsTest, OfManyAreAscendingAndApart) {
  std::vector<unsigned char> both(by_sum().begin(), by_sum().end());
  both.insert(both.end(), by_called_sum().begin(), by_called_sum().end());
  const std::vector<JumpReach> reaches = find(both);
  ASSERT_EQ(reaches.size(), 1U);
  EXPECT_TRUE(is_reached(reaches, reaches[0].last - 1, reaches[0].last));
  EXPECT_FALSE(is_reached(reaches, reaches[0].last, reaches[0].last + 9));
  EXPECT_FALSE(is_reached(reaches, 0, reaches[0].first - 1));
}

}  // namespace
}  // namespace dvm::runtime
