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
ASSEMBLED(ending, "mov %rdi, %rax\n")

TEST(FlagsUse, IsNoneWhereAllAreOverwrittenFirst) {
  EXPECT_TRUE(overwrites_flags(usual()));
  EXPECT_TRUE(overwrites_flags(comparing()));
}

TEST(FlagsUse, IsFeared) {
  for (const CodeBytes code :
       {adding_carry(), incrementing(), keeping(), branching(), calling(), shifting(), returning(), ending()})
    EXPECT_FALSE(overwrites_flags(code));
  EXPECT_FALSE(overwrites_flags({}));
  EXPECT_FALSE(overwrites_flags(usual().first(5)));
}

}  // namespace
}  // namespace dvm::runtime
