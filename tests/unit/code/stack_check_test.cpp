// Finding the end of the stack check of Go functions.
#include "runtime/code/stack_check.h"

#include <gtest/gtest.h>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

#define GROWTH(name) "9: mov %rax, 8(%rsp)\n call . + 5\n mov 8(%rsp), %rax\n jmp " #name "_begin\n"

ASSEMBLED(small_frame, "cmp 0x10(%r14), %rsp\n jbe 9f\n push %rbp\n ret\n" GROWTH(small_frame))
ASSEMBLED(large_frame, "lea -400(%rsp), %r12\n cmp 0x10(%r14), %r12\n jbe 9f\n sub $512, %rsp\n ret\n" GROWTH(large_frame))
ASSEMBLED(huge_frame,
          "mov %rsp, %r12\n sub $0x9bd8, %r12\n jb 9f\n cmp 0x10(%r14), %r12\n jbe 9f\n push %rbp\n ret\n" GROWTH(huge_frame))
ASSEMBLED(of_go_1_16, "mov %fs:-8, %rcx\n cmp 0x10(%rcx), %rsp\n jbe 9f\n sub $24, %rsp\n ret\n" GROWTH(of_go_1_16))
ASSEMBLED(no_check, "push %rbp\n mov %rsp, %rbp\n call . + 5\n pop %rbp\n ret\n")
ASSEMBLED(leaf_that_loops, "cmp 0x10(%rax), %rbx\n jbe 9f\n ret\n 9: inc %rbx\n jmp leaf_that_loops_begin\n")
ASSEMBLED(branch_elsewhere, "cmp 0x10(%r14), %rsp\n jbe 9f\n push %rbp\n ret\n 9: call . + 5\n ret\n")
ASSEMBLED(other_comparison, "cmp %rax, %rbx\n jbe 9f\n push %rbp\n ret\n" GROWTH(other_comparison))
ASSEMBLED(entered_behind, "cmp 0x10(%r14), %rsp\n jbe 9f\n 8: push %rbp\n pop %rbp\n jne 8b\n ret\n" GROWTH(entered_behind))

uint32_t with_registers(CodeBytes code) { return behind_stack_check(code, false); }

// The instruction there, by its first byte: assemblers differ in how long a branch is.
unsigned instruction_behind(CodeBytes code, bool are_free = false) {
  const uint32_t behind = behind_stack_check(code, are_free);
  return behind == 0 ? 0 : code[behind];
}
constexpr unsigned kPush = 0x55, kSubtract = 0x48;

TEST(StackCheck, EndsBehindItsLastBranch) {
  EXPECT_EQ(instruction_behind(small_frame()), kPush);
  EXPECT_EQ(instruction_behind(large_frame()), kSubtract);
  EXPECT_EQ(instruction_behind(huge_frame()), kPush);
}

// Where arguments are in registers, none of those may change on the way.
TEST(StackCheck, KeepsArguments) {
  EXPECT_EQ(instruction_behind(of_go_1_16(), true), kSubtract);
  EXPECT_EQ(with_registers(of_go_1_16()), 0U);
}

TEST(StackCheck, IsNoneOfOtherBeginnings) {
  EXPECT_EQ(with_registers(no_check()), 0U);
  EXPECT_EQ(with_registers(leaf_that_loops()), 0U);
  EXPECT_EQ(with_registers(branch_elsewhere()), 0U);
  EXPECT_EQ(with_registers(other_comparison()), 0U);
  EXPECT_EQ(with_registers(entered_behind()), 0U);
}

ASSEMBLED(keeps_r14, "cmp 0x10(%r14), %rsp\n mov 152(%r14), %rax\n mov %r14, (%rsp)\n push %r14\n call . + 5\n ret\n")
ASSEMBLED(moves_to_r14, "mov %rdi, %r14\n ret\n")
ASSEMBLED(moves_to_a_part, "mov %al, %r14b\n ret\n")
ASSEMBLED(clears_r14, "xor %r14d, %r14d\n ret\n")
ASSEMBLED(pops_r14, "ret\n pop %r14\n ret\n")
ASSEMBLED(exchanges_r14, "xchg %rax, %r14\n ret\n")
ASSEMBLED(may_move_to_r14, "cmove %rax, %r14\n ret\n")

TEST(KeepsGoroutine, WhereNothingWritesItsRegister) {
  EXPECT_TRUE(keeps_goroutine(keeps_r14()));
  for (const CodeBytes code : {moves_to_r14(), moves_to_a_part(), clears_r14(), pops_r14(), exchanges_r14(), may_move_to_r14()})
    EXPECT_FALSE(keeps_goroutine(code));
}

TEST(KeepsGoroutine, OnlyWhereAllIsKnown) {
  EXPECT_FALSE(keeps_goroutine(keeps_r14().first(2)));
  EXPECT_FALSE(keeps_goroutine({}));
}

TEST(StackCheck, AnyBytes) {
  EXPECT_EQ(with_registers({}), 0U);
  EXPECT_EQ(with_registers(small_frame().first(5)), 0U);
}

}  // namespace
}  // namespace dvm::runtime
