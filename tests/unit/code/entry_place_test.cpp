// Places of entry probes, and places that are refused.
#include "runtime/code/entry_place.h"

#include <gtest/gtest.h>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

ASSEMBLED(cheap_at_once, "push %rbp\n mov %rsp, %rbp\n ret\n")
ASSEMBLED(after_mark, "endbr64\n push %rbp\n mov %rsp, %rbp\n ret\n")
ASSEMBLED(after_copy, "mov %rdi, %rax\n cmp %rsi, %rax\n je 1f\n ret\n 1: ret\n")
ASSEMBLED(after_room, "sub $24, %rsp\n mov %rdi, 8(%rsp)\n call . + 5\n add $24, %rsp\n ret\n")
ASSEMBLED(at_frame_pointer_after_room, "sub $24, %rsp\n push %rbp\n ret\n")
ASSEMBLED(argument_changes, "mov %rdi, %rax\n lea 1(%rsi), %rdi\n push %rbx\n ret\n")
ASSEMBLED(part_of_argument_changes, "xor %edx, %edx\n push %rbx\n ret\n")
ASSEMBLED(frame_pointer_changes, "mov %rsp, %rbp\n push %rbx\n ret\n")
ASSEMBLED(may_fault, "mov (%rdi), %rax\n push %rbx\n ret\n")
ASSEMBLED(reads_its_file, "mov 0(%rip), %rax\n push %rbx\n ret\n")
ASSEMBLED(reads_canary, "mov %fs:0x28, %rax\n push %rbx\n ret\n")
ASSEMBLED(loop_behind_entry, "mov %rdi, %rax\n 1: test %rax, %rax\n je 2f\n dec %rax\n jmp 1b\n 2: ret\n")
ASSEMBLED(loop_to_place, "mov %rdi, %rax\n 1: push %rbx\n pop %rbx\n jmp 1b\n")
ASSEMBLED(loop_to_entry, "mov %rdi, %rax\n test %rax, %rax\n je 1f\n jmp loop_to_entry_begin\n 1: ret\n")
ASSEMBLED(table_before_growth, "mov %rdi, %rax\n test %rax, %rax\n je 1f\n jmp *%rax\n 1: ret\n")
ASSEMBLED(table_after_growth, "mov %rdi, %rax\n push %rbx\n jmp *%rax\n")
ASSEMBLED(leaves, "mov %edi, %eax\n syscall\n push %rbx\n ret\n")
ASSEMBLED(aligns_stack, "and $-16, %rsp\n push %rbx\n ret\n")
ASSEMBLED(repeats, "mov %rdi, %rax\n rep stosb\n push %rbx\n ret\n")
ASSEMBLED(decides, "cmp %rsi, %rdi\n sete %al\n cmovne %rsi, %r10\n push %rbx\n ret\n")
ASSEMBLED(nop_of_five, "mov %rdi, %rax\n .byte 0x0f, 0x1f, 0x44, 0, 0\n ret\n")
ASSEMBLED(nop_after_store_below, "mov %rdi, -8(%rsp)\n .byte 0x0f, 0x1f, 0x44, 0, 0\n push %rbx\n ret\n")
ASSEMBLED(all_stepped, "mov %rdi, %rax\n ret\n")
ASSEMBLED(broken, "mov %rdi, %rax\n push %rbx\n .byte 0x06\n")

ASSEMBLED(misread_first, "vpbroadcastb %esi, %ymm17\n mov %edi, %eax\n inc %rdi\n ret\n")
ASSEMBLED(misread_alone, "vzeroupper\n ret\n")
ASSEMBLED(misread_then_cheap, "vpbroadcastb %esi, %ymm17\n mov %edi, %eax\n push %rbx\n ret\n")

ASSEMBLED(locked_first, "lock xadd %eax, (%rdi)\n mov %eax, %esi\n ret\n")
ASSEMBLED(locked_then_cheap, "lock incl (%rdi)\n push %rbx\n ret\n")
ASSEMBLED(locked_later, "mov %rdi, %rax\n lock incl (%rax)\n push %rbx\n ret\n")
ASSEMBLED(locked_swap, "lock xadd %rsi, (%rdi)\n ret\n")
ASSEMBLED(changes_its_file, "mov %eax, 0(%rip)\n push %rbx\n ret\n")

EntryPlace place(CodeBytes code) { return choose_entry(code, code.size()); }
uint32_t place_telling(CodeBytes code, int told) { return choose_entry(code, code.size(), static_cast<Told>(told)).moved; }

TEST(EntryPlace, StaysAtAnInstructionThatIsCheap) { EXPECT_EQ(place(cheap_at_once()).moved, 0U); }

TEST(EntryPlace, MovesBehindWhatKeepsArguments) {
  EXPECT_EQ(place(after_mark()).moved, 4U);
  EXPECT_EQ(place(after_copy()).moved, 6U);
  EXPECT_EQ(place(after_copy()).stack_moved, 0);
  EXPECT_EQ(place(decides()).moved, 10U);
  EXPECT_EQ(place(reads_its_file()).moved, 7U);
  EXPECT_EQ(place(reads_canary()).moved, 9U);
}

// The kernel makes a call of it, whose return address lies where the store went.
TEST(EntryPlace, IsNoNopOfFiveBytesWhereSomethingLiesBelowTheStack) {
  EXPECT_EQ(place(nop_of_five()).moved, 3U);
  EXPECT_EQ(place(nop_after_store_below()).moved, 0U);
}

TEST(EntryPlace, LeavesWhatTheKernelMistakes) {
  EXPECT_EQ(place(misread_first()).moved, 6U);
  EXPECT_EQ(place(misread_alone()).moved, 3U);
  EXPECT_EQ(place(misread_then_cheap()).moved, 8U);
}

TEST(EntryPlace, LeavesWhatTheKernelRefuses) {
  const int registers = kToldArguments | kToldCallers;
  EXPECT_EQ(place_telling(locked_first(), registers), 4U);
  EXPECT_EQ(place_telling(locked_then_cheap(), registers), 3U);
  EXPECT_EQ(place_telling(locked_later(), registers), 0U) << "the first can be probed";
  EXPECT_EQ(place_telling(locked_swap(), registers), 0U) << "an argument changes";
  EXPECT_EQ(place_telling(locked_swap(), registers & ~2), 5U);
}

TEST(EntryPlace, StaysBeforeChangesOfMemoryThatIsTold) {
  EXPECT_EQ(place_telling(locked_first(), kToldAll), 0U);
  EXPECT_EQ(place_telling(changes_its_file(), kToldAll), 0U);
  EXPECT_EQ(place_telling(changes_its_file(), kToldArguments), 6U);
}

TEST(EntryPlace, KnowsHowFarTheStackHasMoved) {
  EXPECT_EQ(place(after_room()).moved, 9U);
  EXPECT_EQ(place(after_room()).stack_moved, 24);
}

TEST(EntryPlace, IsNoPushThatTheKernelTakesForTheEntry) { EXPECT_EQ(place(at_frame_pointer_after_room()).moved, 0U); }

TEST(EntryPlace, StaysBeforeWhatAnEntryTellsChanges) {
  EXPECT_EQ(place(argument_changes()).moved, 0U);
  EXPECT_EQ(place(part_of_argument_changes()).moved, 0U);
  EXPECT_EQ(place(frame_pointer_changes()).moved, 0U);
  EXPECT_EQ(place(aligns_stack()).moved, 0U);
}

TEST(EntryPlace, MovesBehindChangesThatNobodyAsksFor) {
  EXPECT_EQ(place_telling(argument_changes(), 0), 7U);
  EXPECT_EQ(place_telling(argument_changes(), kToldAll & ~1), 7U);
  EXPECT_EQ(place_telling(argument_changes(), 1), 0U);
  EXPECT_EQ(place_telling(part_of_argument_changes(), kToldAll & ~4), 2U);
  EXPECT_EQ(place_telling(part_of_argument_changes(), 4), 0U);
  EXPECT_EQ(place_telling(frame_pointer_changes(), kToldArguments), 3U);
  EXPECT_EQ(place_telling(frame_pointer_changes(), kToldCallers), 0U);
  EXPECT_EQ(place_telling(may_fault(), 0), 0U);
}

TEST(EntryPlace, StaysBeforeWhatMayNotGoOn) {
  EXPECT_EQ(place(may_fault()).moved, 0U);
  EXPECT_EQ(place(leaves()).moved, 0U);
  EXPECT_EQ(place(repeats()).moved, 0U);
}

TEST(EntryPlace, IsNotWhereLoopsPass) {
  EXPECT_EQ(place(loop_behind_entry()).moved, 0U);
  EXPECT_EQ(place(loop_to_place()).moved, 0U);
}

// The first instruction runs as often as the place then.
TEST(EntryPlace, MayMoveInALoopToTheEntry) { EXPECT_EQ(place(loop_to_entry()).moved, 6U); }

TEST(EntryPlace, DoubtsTables) {
  EXPECT_EQ(place(table_before_growth()).moved, 0U);
  EXPECT_EQ(place(table_after_growth()).moved, 3U);
}

TEST(EntryPlace, StaysWhereNothingIsCheaperOrKnown) {
  EXPECT_EQ(place(all_stepped()).moved, 0U);
  EXPECT_EQ(place(broken()).moved, 0U);
  EXPECT_EQ(place({}).moved, 0U);
}

TEST(EntryPlace, StaysBeforeAnotherSymbol) {
  EXPECT_EQ(choose_entry(after_copy(), 6).moved, 0U);
  EXPECT_EQ(choose_entry(after_copy(), 7).moved, 6U);
}

}  // namespace
}  // namespace dvm::runtime
