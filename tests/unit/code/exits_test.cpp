// The ways out of functions.
#include "runtime/code/exits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ASSEMBLED(leaf, "test %rdi, %rdi\n je 1f\n xor %eax, %eax\n ret\n 1: mov %rdi, %rax\n ret\n")
ASSEMBLED(caller, "sub $8, %rsp\n call . + 64\n add $8, %rsp\n ret\n")
ASSEMBLED(system_caller, "mov $39, %eax\n syscall\n ret\n")
ASSEMBLED(tail_caller, "inc %rdi\n jmp . + 64\n")
ASSEMBLED(tail_caller_by_pointer, "jmp *8(%rax)\n")
ASSEMBLED(with_far_part, "test %rdi, %rdi\n .byte 0x0f,0x84,0,1,0,0\n ret\n")
ASSEMBLED(with_table, "movslq (%rdx,%rax,4), %rax\n add %rdx, %rax\n jmp *%rax\n 1: ret\n")
ASSEMBLED(with_high_table, "add %r10, %r11\n jmp *%r11\n 1: ret\n")
ASSEMBLED(with_plain_table, "jmp *1024(,%rax,8)\n 1: ret\n")
ASSEMBLED(by_register, "mov 8(%rdi), %rax\n jmp *%rax\n")
ASSEMBLED(by_other_register, "add %rdx, %rax\n jmp *%rcx\n")
ASSEMBLED(endless, "1: jmp 1b\n")
// As compilers call and jump by %rax without an indirect branch that the processor could predict.
#define BY_RETURN "call 3f\n 2: pause\n lfence\n jmp 2b\n 3: mov %rax, (%rsp)\n ret\n"
ASSEMBLED(by_return, "sub $8, %rsp\n jmp 4f\n 1: " BY_RETURN " 4: call 1b\n add $8, %rsp\n ret\n")
ASSEMBLED(by_last_return, BY_RETURN)
ASSEMBLED(by_return_of_memory,
          "jmp 4f\n 1: call 3f\n 2: pause\n jmp 2b\n 3: lea 8(%rsp), %rsp\n ret\n 4: push (%rdi)\n call 1b\n ret\n")
ASSEMBLED(by_push, "push %r10\n ret\n")
ASSEMBLED(restores, "push %rbx\n mov %edi, %ebx\n pop %rbx\n ret\n")
ASSEMBLED(recursive, "test %edi, %edi\n je 1f\n dec %edi\n call . - 6\n 1: ret\n")
ASSEMBLED(by_pointed, "mov 8(%rdi), %rax\n jmp *(%rax)\n")

ASSEMBLED(stub, "jmp *64(%rip)\n")
ASSEMBLED(marked_stub, "endbr64\n jmp *64(%rip)\n")
ASSEMBLED(numbered_stub, "endbr64\n mov $3, %r11d\n jmp *100(%rip)\n")

ASSEMBLED(takes_return_address, "pop %rdi\n push %rdi\n ret\n")
ASSEMBLED(copies_return_address, "push %rbx\n mov 8(%rsp), %rax\n pop %rbx\n ret\n")
ASSEMBLED(reads_stack_argument, "push %rbx\n mov 16(%rsp), %rax\n pop %rbx\n ret\n")
ASSEMBLED(goes_on_elsewhere, "xor %esi, %esi\n jmp . + 64\n")
ASSEMBLED(takes_it_behind_a_branch, "test %esi, %esi\n je 1f\n popq 64(%rdi)\n ret\n 1: jmp . + 64\n")
ASSEMBLED(copies_it_behind_a_call, "push %rbx\n call . + 64\n 1: jne 2f\n ret\n 2: mov 8(%rsp), %rax\n ret\n")
ASSEMBLED(goes_on_behind_a_branch, "test %esi, %esi\n je 1f\n ret\n 1: jmp . + 64\n")
ASSEMBLED(probes_its_stack,
          "lea -0x3000(%rsp), %r11\n 1: sub $0x1000, %rsp\n orq $0, (%rsp)\n cmp %r11, %rsp\n jne 1b\n"
          "mov 0x1000(%rsp), %rax\n add $0x3000, %rsp\n ret\n")
ASSEMBLED(reads_a_local_behind_abort,
          "push %rbx\n sub $16, %rsp\n test %esi, %esi\n je 1f\n push %rax\n call . + 64\n 1: mov 32(%rsp), %rax\n ret\n")
ASSEMBLED(takes_it_before_a_loop, "mov (%rsp), %rax\n 1: push %rax\n dec %edi\n jne 1b\n ret\n")

Exits exits(CodeBytes code, Beyond beyond = Beyond::function) {
  return find_exits(code, [=](int64_t) { return beyond; });
}

TEST(Exits, AreWhereAFunctionReturns) {
  EXPECT_THAT(exits(leaf()).offsets, ElementsAre(7, 11));
  EXPECT_TRUE(exits(leaf()).is_complete);
  EXPECT_TRUE(exits(leaf()).is_leaf);
  EXPECT_TRUE(exits(endless()).offsets.empty());
  EXPECT_TRUE(exits(endless()).is_complete);
}

TEST(Exits, AFunctionThatRunsOthersIsNoLeaf) {
  for (const auto& code : {caller(), system_caller(), tail_caller(), tail_caller_by_pointer()}) {
    EXPECT_FALSE(exits(code).is_leaf);
    EXPECT_TRUE(exits(code).is_complete);
    EXPECT_EQ(exits(code).offsets.size(), 1U);
  }
}

TEST(Exits, AreUnknownWhereAJumpGoesElsewhere) {
  EXPECT_FALSE(exits(tail_caller(), Beyond::unknown).is_complete);
  EXPECT_FALSE(exits(with_far_part()).is_complete);
  EXPECT_FALSE(exits(by_register()).is_complete);
  EXPECT_FALSE(exits(by_other_register()).is_complete);
  EXPECT_FALSE(exits({}).is_complete);
}

TEST(Exits, APartThatWasMovedAwayIsNoWayOut) {
  const Exits found = exits(with_far_part(), Beyond::part);
  EXPECT_TRUE(found.is_complete);
  EXPECT_EQ(found.offsets.size(), 1U);
  EXPECT_FALSE(found.is_leaf);  // who knows what it runs
  EXPECT_FALSE(exits(with_far_part(), Beyond::function).is_complete);
}

TEST(Exits, AReturnMayBeAnIndirectJump) {
  for (const auto& code : {by_return(), by_last_return(), by_return_of_memory(), by_push()})
    EXPECT_FALSE(exits(code).is_complete);
  EXPECT_TRUE(exits(restores()).is_complete);
  EXPECT_TRUE(exits(recursive()).is_complete);
}

TEST(Exits, AJumpByAPointerMayStayInside) {
  EXPECT_TRUE(jumps_by_register(by_pointed().last(2)));
  for (const auto& code : {stub(), leaf(), by_register().last(2)}) EXPECT_FALSE(jumps_by_register(code));
}

TEST(Exits, ATableStaysInside) {
  for (const auto& code : {with_table(), with_high_table(), with_plain_table()}) {
    EXPECT_TRUE(exits(code).is_complete);
    EXPECT_EQ(exits(code).offsets.size(), 1U);
  }
}

TEST(Exits, SomeKeepTheirReturnAddress) {
  EXPECT_TRUE(read_beginning(takes_return_address()).keeps_return_address);
  EXPECT_TRUE(read_beginning(copies_return_address()).keeps_return_address);
  EXPECT_FALSE(read_beginning(reads_stack_argument()).keeps_return_address);
  EXPECT_FALSE(read_beginning(leaf()).keeps_return_address);
  for (const auto& code : {takes_it_behind_a_branch(), copies_it_behind_a_call()})
    EXPECT_TRUE(read_beginning(code).keeps_return_address);
  EXPECT_THAT(read_beginning(goes_on_elsewhere()).continues, ElementsAre(66));
  EXPECT_THAT(read_beginning(goes_on_behind_a_branch()).continues, ElementsAre(69));
  EXPECT_THAT(read_beginning(leaf()).continues, IsEmpty());
}

TEST(Exits, AreNotMisledWhereTheDepthOfTheStackIsUnknown) {
  EXPECT_FALSE(read_beginning(probes_its_stack()).keeps_return_address);
  EXPECT_FALSE(read_beginning(reads_a_local_behind_abort()).keeps_return_address);
  EXPECT_TRUE(read_beginning(takes_it_before_a_loop()).keeps_return_address);
}

TEST(Exits, StubsJumpByAPointer) {
  EXPECT_TRUE(is_jump_by_pointer(stub()));
  EXPECT_TRUE(is_jump_by_pointer(marked_stub()));
  EXPECT_TRUE(is_jump_by_pointer(numbered_stub()));
  EXPECT_FALSE(is_jump_by_pointer(numbered_stub().first(10)));
  EXPECT_FALSE(is_jump_by_pointer(leaf()));
  EXPECT_FALSE(is_jump_by_pointer({}));
}

}  // namespace
}  // namespace dvm::runtime
