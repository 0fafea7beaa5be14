// Signals that a fault of an instruction raises.
#include "runtime/code/raised_signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

ASSEMBLED(on_stack,
          "endbr64\n push %rbp\n mov %rsp, %rbp\n sub $16, %rsp\n mov %rdi, 8(%rsp)\n mov %fs:40, %rax\n"
          "mov %rax, -8(%rbp)\n lea (%rdi,%rsi), %rax\n nopw 8(%rax,%rax)\n pxor %xmm0, %xmm0\n leave\n ret\n")
ASSEMBLED(by_pointer, "mov (%rdi), %rax\n ret\n")
ASSEMBLED(by_name, "cmpb $0, 64(%rip)\n mov %rax, 32(%rip)\n ret\n")
ASSEMBLED(by_slot, "jmp *64(%rip)\n")
ASSEMBLED(by_string, "rep movsb\n ret\n")
ASSEMBLED(far_down, "mov %eax, -81920(%rsp)\n ret\n")
ASSEMBLED(indexed, "mov (%rsp,%rax,8), %rax\n ret\n")
ASSEMBLED(by_register, "jmp *%rax\n")
ASSEMBLED(in_thread, "mov %fs:(%rax), %rax\n ret\n")
ASSEMBLED(callers_frame, "mov 8(%rbp), %rax\n push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n")
ASSEMBLED(no_frame, "push %rbp\n mov %rsp, %rbp\n mov %rdi, %rbp\n mov 8(%rbp), %rax\n pop %rbp\n ret\n")
ASSEMBLED(dividing, "xor %edx, %edx\n div %rsi\n ret\n")
ASSEMBLED(adding, "addsd %xmm1, %xmm0\n ret\n")
ASSEMBLED(of_x87, "fld1\n ret\n")
ASSEMBLED(undefined, "nop\n ud2\n")
ASSEMBLED(of_avx, "vpxor %xmm0, %xmm0, %xmm0\n ret\n")
ASSEMBLED(stopping, "int3\n ret\n")
ASSEMBLED(clock, "rdtsc\n ret\n")

constexpr SignalSet bit(int signal) { return SignalSet{1} << (signal - 1); }
constexpr SignalSet kMemory = bit(SIGSEGV) | bit(SIGBUS);

SignalSet raised(CodeBytes code) { return raised_signals(code, decode_function(code), 0, static_cast<uint32_t>(code.size())); }

TEST(RaisedSignals, NoneAreRaisedOnTheStack) { EXPECT_EQ(raised(on_stack()), 0); }

TEST(RaisedSignals, ByMemoryAnywhereElse) {
  for (const CodeBytes code : {by_pointer(), by_string(), far_down(), indexed(), by_register(), in_thread()})
    EXPECT_EQ(raised(code), kMemory) << instruction_text(code, 0);
}

TEST(RaisedSignals, ByDataOfTheFile) {
  EXPECT_EQ(raised(by_name()), kFileData);
  EXPECT_EQ(raised(by_slot()), kFileData);
  const std::vector<FileOperand> operands = file_operands(by_name(), 1000);
  ASSERT_EQ(operands.size(), 2);
  EXPECT_EQ(operands[0].address, 1000 + 7 + 64);
  EXPECT_EQ(operands[1].address, 1000 + 14 + 32);
  EXPECT_EQ(operands[1].bytes, 8);
  EXPECT_FALSE(operands[0].is_written);
  EXPECT_TRUE(operands[1].is_written);
}

TEST(RaisedSignals, ByWhatIsNoFramePointer) {
  EXPECT_EQ(raised(callers_frame()), kMemory);
  EXPECT_EQ(raised(no_frame()), kMemory);
}

TEST(RaisedSignals, ByNumbers) {
  for (const CodeBytes code : {dividing(), adding(), of_x87()}) EXPECT_EQ(raised(code), bit(SIGFPE)) << instruction_text(code, 0);
}

TEST(RaisedSignals, ByInstructionsThatAProcessorMayLack) {
  EXPECT_EQ(raised(undefined()), bit(SIGILL));
  EXPECT_EQ(raised(of_avx()) & bit(SIGILL), bit(SIGILL));
}

TEST(RaisedSignals, AnyByThoseThatAreForbidden) {
  for (const CodeBytes code : {stopping(), clock()})
    EXPECT_EQ(raised(code), kMemory | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP)) << instruction_text(code, 0);
}

TEST(RaisedSignals, OnlyByInstructionsOfTheRange) {
  EXPECT_EQ(raised_signals(dividing(), decode_function(dividing()), 0, 2), 0);
  EXPECT_EQ(raised_signals(dividing(), decode_function(dividing()), 2, 5), bit(SIGFPE));
}

}  // namespace
}  // namespace dvm::runtime
