// Instructions that continue on another stack, among those that compilers make.
#include "runtime/symbol/stack_switches.h"

#include <gtest/gtest.h>

#include <span>

#define PIECE(name, code)                                                                          \
  extern "C" const unsigned char name[], name##_end[];                                             \
  asm(".pushsection .rodata\n.globl " #name "\n" #name ":\n" code "\n.globl " #name "_end\n" #name \
      "_end: .byte 0\n"                                                                            \
      ".popsection");

PIECE(ss_fiber, "push %rbx\n mov %rsp, (%rdi)\n mov (%rsi), %rsp\n pop %rbx\n ret")
PIECE(ss_context, "fldenv (%rcx)\n mov 0xa0(%rdx), %rsp\n mov 0x80(%rdx), %rbx")
PIECE(ss_jump, "push %rbp\n mov %rsp, %rax\n mov %rdi, %rsp\n pop %r12")
PIECE(ss_pointer, "mov %rsp, ss_fiber(%rip)\n mov %r9, %rsp")
PIECE(ss_far, "mov %rsp, 0x1000(%r14)\n mov %rax, %rsp")
PIECE(ss_frame,
      "push %rbp\n mov %rsp, %rbp\n sub $64, %rsp\n mov %rsp, -8(%rbp)\n mov -8(%rbp), %rsp\n mov %rbp, %rsp\n pop %rbp\n ret")
PIECE(ss_array, "mov %rsp, %rbx\n sub %rax, %rsp\n mov %rsp, %rdi\n call ss_fiber\n mov %rbx, %rsp\n mov 8(%rsp), %rbx\n ret")
PIECE(ss_leap, "mov (%rdi), %rbx\n mov 0x30(%rdi), %rsp\n jmp *0x38(%rdi)")
PIECE(ss_aligned, "lea 8(%rsp), %r10\n and $-32, %rsp\n push -8(%r10)\n push %rbp\n mov %rsp, %rbp\n lea -8(%r10), %rsp\n ret")

namespace dvm::runtime {
namespace {

bool is_switch(const unsigned char* begin, const unsigned char* end) { return switches_stacks(std::span(begin, end)); }

TEST(StackSwitches, CodeWrittenByHand) {
  EXPECT_TRUE(is_switch(ss_fiber, ss_fiber_end));
  EXPECT_TRUE(is_switch(ss_context, ss_context_end));
  EXPECT_TRUE(is_switch(ss_jump, ss_jump_end));
  EXPECT_TRUE(is_switch(ss_pointer, ss_pointer_end));
  EXPECT_TRUE(is_switch(ss_far, ss_far_end));
}

TEST(StackSwitches, CompilersSetTheStackPointerFromFrames) {
  EXPECT_FALSE(is_switch(ss_frame, ss_frame_end));
  EXPECT_FALSE(is_switch(ss_array, ss_array_end));
  EXPECT_FALSE(is_switch(ss_aligned, ss_aligned_end));
}

TEST(StackSwitches, CodeThatOnlyLeavesFramesIsNone) { EXPECT_FALSE(is_switch(ss_leap, ss_leap_end)); }

TEST(StackSwitches, APieceMayEndAnywhere) {
  for (const unsigned char* end = ss_jump; end < ss_jump_end - 5; end++) EXPECT_FALSE(is_switch(ss_jump, end));
  EXPECT_FALSE(switches_stacks(std::span<const unsigned char>()));
}

}  // namespace
}  // namespace dvm::runtime
