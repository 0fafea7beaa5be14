#include "runtime/code/flags_use.h"

#include <gtest/gtest.h>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

ASSEMBLED(usual, "endbr64\n push %rbp\n mov %rsp, %rbp\n push %rbx\n lea 8(%rdi), %rbx\n sub $24, %rsp\n jc . + 2\n ret\n")
ASSEMBLED(comparing, "cmpb $0, (%rdi)\n je . + 2\n ret\n")
ASSEMBLED(adding_carry, "mov %rdi, %rax\n adc %rsi, %rax\n xor %ecx, %ecx\n ret\n")
ASSEMBLED(incrementing, "inc %rdi\n adc %rdi, %rax\n ret\n")
ASSEMBLED(keeping, "pushfq\n xor %eax, %eax\n ret\n")
ASSEMBLED(branching, "jc . + 2\n xor %eax, %eax\n ret\n")
ASSEMBLED(calling, "push %rbp\n call . + 64\n xor %eax, %eax\n ret\n")
ASSEMBLED(shifting, "shl %cl, %eax\n ret\n")
ASSEMBLED(returning, "mov %rdi, %rax\n ret\n")
ASSEMBLED(looping, "jmp 2f\n 1: mov (%rdi), %al\n test %al, %al\n jmp 1b\n 2: jmp 1b\n")
ASSEMBLED(going_back, "test %al, %al\n .byte 0xeb, 0xfc\n")  // jmp . - 2
ASSEMBLED(circling, "nop\n 1: jmp 1b\n")
ASSEMBLED(leaving, "jmp . + 64\n xor %eax, %eax\n ret\n")
ASSEMBLED(leaving_by_a_register, "jmp *%rax\n xor %eax, %eax\n ret\n")
ASSEMBLED(ending, "mov %rdi, %rax\n")

TEST(FlagsUse, IsNoneWhereAllAreOverwrittenFirst) {
  EXPECT_TRUE(overwrites_flags(usual(), 0));
  EXPECT_TRUE(overwrites_flags(comparing(), 0));
  EXPECT_TRUE(overwrites_flags(looping(), 0));
  EXPECT_TRUE(overwrites_flags(going_back(), 2));
}

TEST(FlagsUse, IsFeared) {
  for (const CodeBytes code : {adding_carry(), incrementing(), keeping(), branching(), calling(), shifting(), returning(),
                               ending(), circling(), leaving(), leaving_by_a_register()})
    EXPECT_FALSE(overwrites_flags(code, 0));
  EXPECT_FALSE(overwrites_flags({}, 0));
  EXPECT_FALSE(overwrites_flags(usual().first(5), 0));
}

}  // namespace
}  // namespace dvm::runtime
