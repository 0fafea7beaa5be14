// Indirect jumps to computed addresses, and where they may lead.
#include "runtime/code/computed_jumps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "runtime/code/register_values.h"
#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kCode = 0x10000, kData = 0x11000, kLinked = 0x12000;

#define TO_DATA ".byte 0x48, 0x8d, 0x15\n .long 0x1000 - 7\n"  // lea 0x11000(%rip), %rdx, as the first instruction
#define TO_CODE ".byte 0x48, 0x8d, 0x15\n .long 0x40 - 7\n"

ASSEMBLED(by_words, TO_DATA " movswq (%rdx,%rdi,2), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
ASSEMBLED(by_entries, TO_DATA " movslq (%rdx,%rdi,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
// Without optimisation.
ASSEMBLED(by_narrow_entries, TO_DATA " mov (%rdi,%rdx), %eax\n cltq\n add %rdx, %rax\n jmp *%rax\n")
ASSEMBLED(by_low_halves, TO_DATA " mov (%rdi,%rdx), %eax\n movswl %ax, %eax\n cltq\n add %rdx, %rax\n jmp *%rax\n")
ASSEMBLED(by_sum, TO_CODE " shl $3, %rdi\n add %rdi, %rdx\n mov %rdx, %r11\n jmp *%r11\n")
ASSEMBLED(by_called_sum, TO_CODE " lea (%rdx,%rdi,8), %rax\n call *%rax\n")
ASSEMBLED(of_argument, TO_CODE " mov %rdx, %rsi\n add $8, %rax\n mov 8(%rax), %rax\n jmp *%rax\n")
ASSEMBLED(by_address, TO_CODE " jmp *%rdx\n")
ASSEMBLED(by_choice, TO_CODE " mov 8(%rdi), %rax\n test %rax, %rax\n cmove %rdx, %rax\n jmp *%rax\n")
ASSEMBLED(by_copy, TO_CODE " add %rdi, %rdx\n mov %rdx, %rax\n cmp %rsi, %rdi\n mov %rax, %r9\n jmp *%r9\n")
ASSEMBLED(over_call, TO_CODE " call . + 0x4000\n add %rdi, %rdx\n jmp *%rdx\n")

// Ways to leave by the sum in %rcx.
#define SUM TO_CODE " lea (%rdx,%rdi,8), %rcx\n"
ASSEMBLED(with_notrack, SUM ".byte 0x3e\n jmp *%rcx\n")
ASSEMBLED(with_notrack_high, SUM "mov %rcx, %r8\n .byte 0x3e\n jmp *%r8\n")
ASSEMBLED(with_bnd, SUM ".byte 0xf2\n jmp *%rcx\n")
ASSEMBLED(with_segment_and_width, SUM ".byte 0x2e, 0x66, 0x48\n jmp *%rcx\n")
ASSEMBLED(behind_byte_like_prefix, SUM "lea 0x41(%rcx), %rcx\n jmp *%rcx\n")
ASSEMBLED(by_notrack_call, SUM ".byte 0x3e\n call *%rcx\n")
ASSEMBLED(by_exchange, SUM "xchg %rcx, %rax\n jmp *%rax\n")
ASSEMBLED(by_push, SUM "push %rcx\n ret\n")
ASSEMBLED(by_high_push, SUM "mov %rcx, %r9\n push %r9\n ret\n")
ASSEMBLED(by_push_and_bnd, SUM "push %rcx\n .byte 0xf2\n ret\n")
ASSEMBLED(by_push_and_take, SUM "push %rcx\n ret $8\n")
ASSEMBLED(by_stored_return, SUM "sub $8, %rsp\n mov %rcx, (%rsp)\n ret\n")
ASSEMBLED(by_exchanged_return, SUM "push %rax\n xchg %rcx, (%rsp)\n ret\n")
ASSEMBLED(by_red_zone, SUM "mov %rcx, -8(%rsp)\n jmp *-8(%rsp)\n")
ASSEMBLED(by_far_place, SUM "mov %rcx, 0x200(%rsp)\n push %rbx\n jmp *0x208(%rsp)\n")
ASSEMBLED(by_loaded_place, SUM "push %rcx\n mov (%rsp), %rax\n jmp *%rax\n")
ASSEMBLED(by_pop, SUM "push %rcx\n pop %rax\n jmp *%rax\n")
ASSEMBLED(by_sum_in_place, TO_CODE "push %rdx\n add %rdi, (%rsp)\n jmp *(%rsp)\n")

// Ways to pass it on.
ASSEMBLED(by_changed_return, TO_CODE "push %rdx\n addq $8, (%rsp)\n nop\n ret\n")
ASSEMBLED(by_frame, TO_CODE "mov %rdx, -16(%rbp)\n add %rdi, -16(%rbp)\n mov -16(%rbp), %rax\n leave\n jmp *%rax\n")
ASSEMBLED(by_word, TO_CODE "mov %rdx, 0x400(%rip)\n mov %edi, %edi\n mov 0x400 - 2(%rip), %rax\n jmp *%rax\n")
ASSEMBLED(by_summed_word, SUM "mov %rcx, 0x400(%rip)\n mov %edi, %edi\n mov 0x400 - 9(%rip), %rax\n jmp *%rax\n")
ASSEMBLED(by_other_frame, SUM "mov %rcx, -16(%rbp)\n mov %rsp, %rbp\n mov -16(%rbp), %rax\n jmp *%rax\n")
ASSEMBLED(by_linked, ".byte 0x48, 0x8b, 0x15\n .long 0x2000 - 7\n lea (%rdx,%rdi,8), %rcx\n jmp *%rcx\n")
ASSEMBLED(by_later_entries, TO_DATA "movslq 4(%rdx,%rdi,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")

// The addresses behind calls.
ASSEMBLED(of_call, "call 1f\n 1: pop %rdx\n add %rdi, %rdx\n jmp *%rdx\n")
ASSEMBLED(of_call_high, "call 1f\n 1: pop %r9\n add %rdi, %r9\n jmp *%r9\n")
ASSEMBLED(of_call_over_data,
          "call 1f\n .long 0x20, 0x40\n 1: pop %rdx\n movslq (%rdx,%rdi,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
ASSEMBLED(of_call_and_return, "call 1f\n 1: add %rdi, (%rsp)\n ret\n")
ASSEMBLED(of_call_elsewhere, "call 1f\n 1: push %rdx\n pop %rdx\n add %rdi, %rdx\n jmp *%rdx\n")

ASSEMBLED(by_other_place, SUM "mov %rcx, -8(%rsp)\n jmp *-16(%rsp)\n")
ASSEMBLED(by_replaced_place, SUM "mov %rcx, -8(%rsp)\n mov %rax, -8(%rsp)\n jmp *-8(%rsp)\n")
ASSEMBLED(by_other_push, SUM "push %rcx\n push %rax\n ret\n")
ASSEMBLED(by_moved_stack, SUM "push %rcx\n mov %rbx, %rsp\n push %rax\n pop %rax\n jmp *(%rsp)\n")
ASSEMBLED(by_other_of_exchange, SUM "xchg %rcx, %rax\n jmp *%rcx\n")

class ComputedJumpsTest : public testing::Test {
 protected:
  std::vector<JumpReach> find(CodeBytes code) {
    const auto is_code = [](uint64_t address) { return address >= kCode && address < kData; };
    return find_computed_jumps({code, kCode, is_fixed_, is_code, [&](uint64_t address) { return data(address); },
                                [&](uint64_t, uint64_t) { return is_one_; },
                                [](uint64_t address) { return address == kLinked ? std::optional(kCode + 0x40) : std::nullopt; }},
                               work_);
  }
  CodeBytes data(uint64_t address) const {
    if (address == kData + 4) return later_;
    return address == kData ? CodeBytes(table_) : CodeBytes();
  }
  bool leads_to(CodeBytes code, uint64_t address) {
    for (const JumpReach& one : find(code))
      if (address >= one.first && address <= one.last) return true;
    return false;
  }

  std::vector<unsigned char> table_ = {0x10, 0xff, 0x20, 0xfe};  // -0xf0, -0x1e0
  std::vector<unsigned char> later_{};                           // behind it
  bool is_one_ = false, is_fixed_ = false;
  size_t work_ = kMostComputedWork;
};

TEST_F(ComputedJumpsTest, LeadToEntriesOfTwoBytes) {
  EXPECT_TRUE(leads_to(by_words(), kData - 0xf0));
  EXPECT_TRUE(leads_to(by_words(), kData - 0x1e0));
  EXPECT_FALSE(leads_to(by_words(), kData - 0x500));
  EXPECT_TRUE(leads_to(by_low_halves(), kData - 0xf0));
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
  for (const CodeBytes code : {by_entries(), by_narrow_entries(), of_argument(), by_address(), by_choice(), over_call()})
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

TEST_F(ComputedJumpsTest, MayHavePrefixes) {
  for (const CodeBytes code :
       {with_notrack(), with_notrack_high(), with_bnd(), with_segment_and_width(), behind_byte_like_prefix(), by_notrack_call()})
    EXPECT_TRUE(leads_to(code, kCode + 0x48)) << instruction_text(code.last(3), 0);
}

TEST_F(ComputedJumpsTest, MayLeadByTheStack) {
  const CodeBytes codes[] = {
      by_exchange(),         by_push(),     by_high_push(), by_push_and_bnd(), by_push_and_take(), by_stored_return(),
      by_exchanged_return(), by_red_zone(), by_far_place(), by_loaded_place(), by_pop(),           by_sum_in_place()};
  for (size_t i = 0; i < std::size(codes); i++) EXPECT_TRUE(leads_to(codes[i], kCode + 0x48)) << i;
}

TEST_F(ComputedJumpsTest, MayLeadByMemoryOfOneName) {
  const CodeBytes codes[] = {by_changed_return(), by_frame(), by_summed_word(), by_linked()};
  for (size_t i = 0; i < std::size(codes); i++) EXPECT_TRUE(leads_to(codes[i], kCode + 0x48)) << i;
  EXPECT_TRUE(find(by_word()).empty());  // no sum
  EXPECT_TRUE(find(by_other_frame()).empty());
}

TEST_F(ComputedJumpsTest, LeadToEntriesFarBehindAnAddress) {
  const std::vector<unsigned char> distance = {0x40, 0xf0, 0xff, 0xff};
  table_ = {1, 0, 0, 0};
  later_.assign(distance.begin(), distance.end());
  EXPECT_TRUE(leads_to(by_later_entries(), kData - 0xfc0));
  EXPECT_FALSE(leads_to(by_later_entries(), kData - 0xf00));
}

TEST_F(ComputedJumpsTest, StartFromAddressesBehindCalls) {
  is_one_ = true;
  for (const CodeBytes code : {of_call(), of_call_high(), of_call_over_data(), of_call_and_return()})
    EXPECT_TRUE(leads_to(code, kCode + 0x400)) << instruction_text(code.last(2), 0) << code.size();
  EXPECT_FALSE(leads_to(of_call_elsewhere(), kCode + 0x20000));
}

TEST_F(ComputedJumpsTest, LeadNowhereByOtherPlaces) {
  const CodeBytes codes[] = {by_other_place(), by_replaced_place(), by_other_push(), by_moved_stack(), by_other_of_exchange()};
  for (size_t i = 0; i < std::size(codes); i++) EXPECT_TRUE(find(codes[i]).empty()) << i;
}

TEST_F(ComputedJumpsTest, TakeAddressesByImmediatesWhereTheyAreFixed) {
  std::vector<unsigned char> code = {0xba, 0x40, 0, 1, 0, 0x48, 0x01, 0xfa, 0xff, 0xe2};  // mov $0x10040, %edx; add; jmp *%rdx
  EXPECT_TRUE(find(code).empty());
  is_fixed_ = true;
  EXPECT_TRUE(leads_to(code, kCode + 0x48));
  code[0] = 0xbb;  // to %ebx
  EXPECT_TRUE(find(code).empty());
}

// No first instruction leads to these jumps, so that all are tried.
TEST_F(ComputedJumpsTest, CostLittlePerJumpInHostileCode) {
  constexpr size_t kLines = 300, kLine = 192;
  std::vector<unsigned char> code(kLines * kLine, 0x90);
  for (size_t line = 0; line < code.size(); line += kLine) {
    constexpr unsigned char kTake[] = {0x48, 0x8d, 0x15, 0, 0, 0, 0}, kEnd[] = {0x06, 0xff, 0xe0};
    std::ranges::copy(kTake, code.begin() + static_cast<std::ptrdiff_t>(line));
    std::ranges::copy(kEnd, code.begin() + static_cast<std::ptrdiff_t>(line + kLine - sizeof kEnd));
  }
  EXPECT_TRUE(find(code).empty());
  EXPECT_LE(kMostComputedWork - work_, kLines * (kLine + 1));
  EXPECT_GE(kMostComputedWork - work_, kLines * kLine / 2);
  work_ = kLines * kLine / 2;
  EXPECT_TRUE(leads_to(code, UINT64_MAX));
  EXPECT_EQ(work_, 0U);
}

// Each store copies the addresses behind all calls of the `pop`.
TEST_F(ComputedJumpsTest, LeadAnywhereFromTheAddressesOfManyCalls) {
  constexpr unsigned char kStore = 0x50, kStores = 40, kCall = 0xe8;  // push %rax
  constexpr unsigned char kEnd[] = {0x48, 0x01, 0xf8, 0xff, 0xe0};    // add %rdi, %rax; jmp *%rax
  for (const size_t calls : {AddressValue::kMost, AddressValue::kMost + 1, size_t{1000}}) {
    std::vector<unsigned char> code;
    for (size_t left = calls; left > 0; left--) {
      const size_t over = (left - 1) * 5;
      code.insert(code.end(), {kCall, static_cast<unsigned char>(over), static_cast<unsigned char>(over >> 8), 0, 0});
    }
    code.push_back(0x58);  // pop %rax
    code.insert(code.end(), kStores, kStore);
    code.insert(code.end(), std::begin(kEnd), std::end(kEnd));
    work_ = kMostComputedWork;
    EXPECT_EQ(leads_to(code, UINT64_MAX), calls > AddressValue::kMost);
    EXPECT_GE(kMostComputedWork - work_, AddressValue::kMost * kStores);
    EXPECT_LE(kMostComputedWork - work_, calls + 4 * AddressValue::kMost * kStores);
  }
}

}  // namespace
}  // namespace dvm::runtime
