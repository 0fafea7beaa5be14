// Decoding: boundaries, flow, cost and text of instructions.
#include "runtime/code/function_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

using testing::ElementsAre;

ASSEMBLED(aborting, "xabort $1\n ret\n")
ASSEMBLED(costs,
          "push %rbp\n push %r15\n nop\n .byte 0x66,0x90\n .byte 0x0f,0x1f,0x44,0,0\n call . + 7\n jmp . + 2\n jne . + 2\n"
          "push $1\n pop %rax\n endbr64\n mov %rdi, %rax\n ret\n xchg %r8, %rax\n .byte 0x2e\n nopl 0(%rax)\n")
ASSEMBLED(vectors,
          "vmovdqu %ymm0, (%rdi)\n vzeroupper\n vpbroadcastb %esi, %ymm17\n vpshufd $1, %xmm0, %xmm1\n vpor %ymm0, %ymm1, %ymm2\n"
          "vcmpps $0, %xmm0, %xmm1, %xmm2\n vpaddb %ymm0, %ymm1, %ymm2\n vmovdqu (%rdi), %ymm0\n vpxor %xmm0, %xmm0, %xmm0\n"
          "movdqa %xmm0, (%rdi)\n por %xmm0, %xmm1\n jg . + 2\n ret\n")
ASSEMBLED(strings, "rep movsb\n repne scasb\n repe cmpsb\n rep stosq\n movsb\n pause\n popcnt %eax, %eax\n rep ret\n")
ASSEMBLED(flags, "pushfq\n pushfw\n popfq\n lahf\n push %rax\n syscall\n sysenter\n")
ASSEMBLED(signal_returns,
          "mov $15, %rax\n syscall\n mov $15, %eax\n syscall\n endbr64\n mov $15, %rax\n syscall\n"
          "mov $14, %eax\n syscall\n mov $15, %eax\n ret\n syscall\n")
ASSEMBLED(loop, "xor %eax, %eax\n 1: inc %eax\n cmp %edi, %eax\n jne 1b\n ret\n")
ASSEMBLED(into_an_instruction, "mov $0x11223344, %eax\n jmp into_an_instruction_begin + 1\n")
ASSEMBLED(no_code, "push %rbp\n .byte 0x06\n ret\n")
ASSEMBLED(by_table, "jmp *%rax\n")
ASSEMBLED(by_indexed_table, "jmp *64(,%rax,8)\n")
ASSEMBLED(by_pointer, "jmp *16(%rax)\n jmp *0(%rip)\n")
ASSEMBLED(takes_addresses, "1: lea 1b(%rip), %rax\nlea 8(%rax), %rcx\nlea 1b + 16(%rip), %rdx\nlea 1b(%rip), %rsi\nret")
ASSEMBLED(through_stack, "jmp *8(%rsp)\n")

std::vector<FiringCost> costs_of(const FunctionCode& function) {
  std::vector<FiringCost> all;
  for (const MachineInstruction& one : function.instructions) all.push_back(one.cost);
  return all;
}

TEST(FunctionCode, GoesOnBehindAnAbortedTransaction) {
  const FunctionCode code = decode_function(aborting());
  ASSERT_EQ(code.instructions.size(), 2);
  EXPECT_EQ(code.instructions[0].flow, Flow::next);
  EXPECT_FALSE(code.has_table_jump());
}

TEST(FunctionCode, KnowsWhatTheKernelMistakes) {
  std::vector<bool> misread;
  for (const MachineInstruction& one : decode_function(vectors()).instructions) misread.push_back(one.is_misread);
  EXPECT_THAT(misread, ElementsAre(true, true, true, true, true, true, false, false, false, false, false, false, false));
}

TEST(FunctionCode, KnowsWhatIsRepeated) {
  std::vector<bool> repeated;
  for (const MachineInstruction& one : decode_function(strings()).instructions) repeated.push_back(one.is_repeated);
  EXPECT_THAT(repeated, ElementsAre(true, true, true, true, false, false, false, false));
}

TEST(FunctionCode, KnowsWhatSavesFlags) {
  std::vector<bool> saves;
  for (const MachineInstruction& one : decode_function(flags()).instructions) saves.push_back(one.saves_flags);
  EXPECT_THAT(saves, ElementsAre(true, true, false, false, false, true, false));
}

TEST(FunctionCode, KnowsReturnsFromSignalHandlers) {
  std::vector<bool> returns;
  for (const MachineInstruction& one : decode_function(signal_returns()).instructions)
    returns.push_back(is_signal_return(signal_returns(), one.offset));
  EXPECT_THAT(returns, ElementsAre(true, true, true, true, true, true, true, false, false, false, false, false));
  EXPECT_FALSE(is_signal_return(signal_returns(), 1));
  EXPECT_FALSE(is_signal_return(signal_returns(), signal_returns().size() + 1));
  EXPECT_FALSE(is_signal_return({}, 0));
}

TEST(FunctionCode, KnowsWhatTheKernelEmulates) {
  constexpr auto stepped = FiringCost::stepped, emulated = FiringCost::emulated, rewritten = FiringCost::rewritten;
  EXPECT_THAT(costs_of(decode_function(costs())),
              ElementsAre(emulated, emulated, emulated, emulated, rewritten, emulated, emulated, emulated, stepped, stepped,
                          stepped, stepped, stepped, stepped, stepped));
}

TEST(FunctionCode, KnowsWhatTheKernelMayRefuse) {
  const auto doubts = [](unsigned char first, unsigned char second) { return is_doubtful(std::array{first, second}); };
  EXPECT_FALSE(doubts(0x55, 0x48));  // push %rbp
  EXPECT_FALSE(doubts(0xf3, 0x0f));  // endbr64
  EXPECT_TRUE(doubts(0xc5, 0xf9));   // vmovd
  EXPECT_TRUE(doubts(0xf0, 0x48));   // lock
  EXPECT_TRUE(doubts(0x0f, 0x05));   // syscall
  EXPECT_FALSE(is_doubtful({}));
}

TEST(FunctionCode, FindsWhereInstructionsBegin) {
  const FunctionCode function = decode_function(loop());
  EXPECT_TRUE(function.is_complete);
  EXPECT_EQ(function.instructions.size(), 5U);
  EXPECT_NE(function.at(2), nullptr);
  EXPECT_EQ(function.at(3), nullptr);
  EXPECT_EQ(function.at(6)->target, 2);
  EXPECT_EQ(function.at(6)->flow, Flow::branch);
  EXPECT_EQ(function.instructions.back().flow, Flow::return_);
}

TEST(FunctionCode, DoubtsWhatBranchesIntoAnInstruction) { EXPECT_FALSE(decode_function(into_an_instruction()).is_complete); }

TEST(FunctionCode, EndsAtWhatIsNoInstruction) {
  const FunctionCode function = decode_function(no_code());
  EXPECT_FALSE(function.is_complete);
  EXPECT_EQ(function.instructions.size(), 1U);
  EXPECT_FALSE(decode_function({}).is_complete);
}

TEST(FunctionCode, TellsJumpsByTableFromThoseToFunctions) {
  EXPECT_TRUE(decode_function(by_table()).has_table_jump());
  EXPECT_TRUE(decode_function(by_indexed_table()).has_table_jump());
  EXPECT_FALSE(decode_function(by_pointer()).has_table_jump());
  EXPECT_FALSE(decode_function(through_stack()).has_table_jump());
}

TEST(FunctionCode, KnowsWhoseAddressIsTaken) {
  EXPECT_EQ(addresses_taken(takes_addresses()), (std::vector<int64_t>{0, 16}));
  EXPECT_TRUE(addresses_taken({}).empty());
}

TEST(FunctionCode, WritesInstructionsAsTheAssemblerReadsThem) {
  EXPECT_EQ(instruction_text(costs(), 0), "push %rbp");
  EXPECT_EQ(instruction_text({}, 0), "");
}

}  // namespace
}  // namespace dvm::runtime
