// Windows that a jump can replace, and copies of their instructions.
#include "runtime/code/displaced.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

ASSEMBLED(usual, "push %rbp\n mov %rsp, %rbp\n sub $16, %rsp\n leave\n ret\n")
ASSEMBLED(entered, "push %rbp\n 1: dec %edi\n nop\n jne 1b\n pop %rbp\n ret\n")
ASSEMBLED(looping, "entered_first: dec %edi\n nopl 0(%rax)\n jne entered_first\n ret\n")
ASSEMBLED(calling, "push %rbp\n call . + 64\n pop %rbp\n ret\n")
ASSEMBLED(entering_kernel, "mov %edi, %eax\n syscall\n nop\n ret\n")
ASSEMBLED(too_short, "xor %eax, %eax\n ret\n")
ASSEMBLED(by_table_jump, "push %rbp\n mov %rsp, %rbp\n nop\n jmp *%rax\n")
ASSEMBLED(relative, "lea 100(%rip), %rax\n ret\n")
ASSEMBLED(branching, "test %edi, %edi\n .byte 0x74, 64\n nopl 0(%rax)\n ret\n")
ASSEMBLED(short_only, "nopl 0(%rax)\n jrcxz . + 16\n nop\n .skip 16, 0x90\n ret\n")

JumpWindow window_of(CodeBytes code, uint32_t offset = 0) { return find_window(code, decode_function(code), offset); }

TEST(JumpWindow, HoldsWholeInstructions) {
  EXPECT_EQ(window_of(usual()).length, 8);
  EXPECT_EQ(window_of(usual(), 1).length, 7);
  EXPECT_EQ(window_of(usual(), 2).refusal, "no instruction begins there");
}

TEST(JumpWindow, MayNotBeEnteredBehindItsBeginning) {
  EXPECT_EQ(window_of(entered()).refusal, "a branch leads into its first five bytes");
  EXPECT_EQ(window_of(looping()).refusal, "");
  EXPECT_FALSE(window_of(by_table_jump()).refusal.empty());
}

TEST(JumpWindow, MayNotBeComeBackTo) {
  EXPECT_EQ(window_of(calling()).refusal, "a call lies in its first five bytes");
  EXPECT_EQ(window_of(entering_kernel()).refusal, "an instruction that enters the kernel lies in its first five bytes");
  EXPECT_EQ(window_of(too_short()).refusal, "the code ends before five bytes");
}

JumpWindow exit_window_of(CodeBytes code, uint32_t exit, uint32_t size) {
  return find_exit_window(code, decode_function(code.first(size)), exit);
}

ASSEMBLED(popping, "mov %edi, %eax\n pop %rbx\n pop %rbp\n pop %r12\n ret\n")
ASSEMBLED(padded, "mov %edi, %eax\n ret\n nopw 0(%rax,%rax)\n")
ASSEMBLED(broken_off, "mov %edi, %eax\n ret\n int3\n int3\n int3\n int3\n")
ASSEMBLED(followed, "call . + 64\n leave\n ret\n mov %edi, %eax\n")
ASSEMBLED(joined, "test %edi, %edi\n .byte 0x74, 5\n mov %edi, %eax\n nopl 0(%rax)\n pop %rbx\n ret\n")
ASSEMBLED(joined_at_ret, "test %edi, %edi\n .byte 0x74, 5\n mov $5, %eax\n ret\n nopw 0(%rax,%rax)\n")
ASSEMBLED(by_pointer, "nopl 0(%rax)\n jmp *8(%rax)\n")
ASSEMBLED(by_jump, "nopl 0(%rax)\n .byte 0xe9, 64, 0, 0, 0\n")

TEST(ExitWindow, TakesAsManyInstructionsAsItNeeds) {
  const JumpWindow window = exit_window_of(popping(), 6, 7);
  EXPECT_EQ(window.refusal, "");
  EXPECT_EQ(window.begin, 2);
  EXPECT_EQ(window.copied, 5);
  EXPECT_EQ(window.length, 5);
}

TEST(ExitWindow, TakesPaddingBehindTheReturn) {
  for (const CodeBytes code : {padded(), broken_off()}) {
    const JumpWindow window = exit_window_of(code, 2, 3);
    EXPECT_EQ(window.refusal, "");
    EXPECT_EQ(window.begin, 2);
    EXPECT_EQ(window.copied, 1);
    EXPECT_EQ(window.length, kJumpBytes);
  }
  EXPECT_EQ(count_padding(padded().subspan(3)), 5);
  EXPECT_EQ(count_padding(followed()), 0);
}

TEST(ExitWindow, MayBeEnteredAtItsBeginningOnly) {
  EXPECT_EQ(exit_window_of(joined(), 10, 11).refusal, "a branch leads into the five bytes at the instruction that leaves it");
  const JumpWindow window = exit_window_of(joined_at_ret(), 9, 10);
  EXPECT_EQ(window.refusal, "");
  EXPECT_EQ(window.begin, 9);
}

TEST(ExitWindow, HoldsNoCallAndNoOtherCode) {
  EXPECT_EQ(exit_window_of(followed(), 6, 7).refusal, "there are no five bytes to replace where it returns");
  EXPECT_EQ(exit_window_of(by_pointer(), 3, 6).refusal, "it leaves by a jump to another function");
  EXPECT_FALSE(exit_window_of(by_table_jump(), 5, 7).refusal.empty());
}

// Two bytes at the return, and five that nothing runs within reach.
ASSEMBLED(with_relay,
          "test %edi, %edi\n .byte 0x74, 13\n xor %eax, %eax\n .byte 0xeb, 9\n nopl 64(%rax,%rax,1)\n nop\n nop\n .byte 0xeb, "
          "0xfe\n xor %eax, %eax\n ret\n")
ASSEMBLED(with_used_relay,
          "test %edi, %edi\n .byte 0x74, 4\n xor %eax, %eax\n .byte 0xeb, 7\n nopl 64(%rax,%rax,1)\n .byte 0xeb, 0xfe\n xor "
          "%eax, %eax\n ret\n")
ASSEMBLED(with_far_relay, "1: nop\n jmp 1b\n nopl 64(%rax,%rax,1)\n .skip 130, 0x90\n xor %eax, %eax\n ret\n")

TEST(ExitWindow, MayBeTwoBytesWithARelayNearby) {
  const FunctionCode decoded = decode_function(with_relay());
  const auto size = static_cast<uint32_t>(with_relay().size());
  const JumpWindow window = find_exit_window(with_relay(), decoded, size - 1, kShortJumpBytes);
  EXPECT_EQ(window.refusal, "");
  EXPECT_EQ(window.begin, size - 3);
  EXPECT_EQ(window.length, 3);
  EXPECT_EQ(find_relays(with_relay(), decoded, window.begin), std::vector<uint32_t>{8});
}

TEST(ExitWindow, HasNoRelayThatIsEnteredOrFarAway) {
  const auto relays = [](CodeBytes code) {
    return find_relays(code, decode_function(code), static_cast<uint32_t>(code.size()) - 3);
  };
  EXPECT_EQ(relays(with_used_relay()), std::vector<uint32_t>{});
  EXPECT_EQ(relays(with_far_relay()), std::vector<uint32_t>{});
}

TEST(ExitWindow, MayEndWithAJump) {
  const JumpWindow window = exit_window_of(by_jump(), 3, 8);
  EXPECT_EQ(window.refusal, "");
  EXPECT_EQ(window.begin, 3);
  EXPECT_EQ(window.length, 5);
}

int32_t word_at(const std::vector<unsigned char>& bytes, size_t at) {
  int32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

TEST(DisplacedCode, KeepsWhatItAddresses) {
  const DisplacedCode copy = displace(relative().first(7), 0x10000, 0x20000);
  ASSERT_EQ(copy.bytes.size(), 7);
  EXPECT_EQ(word_at(copy.bytes, 3), 100 - 0x10000);
  EXPECT_TRUE(copy.falls_through);
  EXPECT_FALSE(displace(relative().first(7), 0x10000, uint64_t{1} << 40).refusal.empty());
}

TEST(DisplacedCode, LengthensBranches) {
  const DisplacedCode copy = displace(branching().first(7), 0x10000, 0x20000);
  ASSERT_EQ(copy.bytes.size(), 11);
  EXPECT_EQ(copy.bytes[2], 0x0f);
  EXPECT_EQ(copy.bytes[3], 0x84);
  EXPECT_EQ(0x20000 + 8 + word_at(copy.bytes, 4), 0x10000 + 2 + 66);
  ASSERT_EQ(copy.moved.size(), 3);
  EXPECT_EQ(copy.moved[2].from, 4);
  EXPECT_EQ(copy.moved[2].to, 8);
}

TEST(DisplacedCode, RefusesBranchesThatAreShortOnly) {
  EXPECT_FALSE(displace(short_only().first(6), 0x10000, 0x20000).refusal.empty());
}

TEST(DisplacedCode, EndsWithAReturn) { EXPECT_FALSE(displace(too_short(), 0x10000, 0x20000).falls_through); }

}  // namespace
}  // namespace dvm::runtime
