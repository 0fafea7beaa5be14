// The ways out of functions that leave by jumps to others.
#include "runtime/code/tail_exits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

using testing::ElementsAre;

// Each function begins at a multiple of 32.
ASSEMBLED(file,
          "by_jump: inc %rdi\n jmp shared\n .balign 32, 0xcc\n"                                   // 0
          "shared: test %rdi, %rdi\n je 1f\n ret\n 1: xor %eax, %eax\n ret\n .balign 32, 0xcc\n"  // 32
          "by_branch: test %rdi, %rdi\n jne shared\n ret\n .balign 32, 0xcc\n"                    // 64
          "outer: nop\n jmp by_jump\n .balign 32, 0xcc\n"                                         // 96
          "twice: test %esi, %esi\n jne shared\n jmp by_jump\n .balign 32, 0xcc\n"                // 128
          "circle: nop\n jmp back\n .balign 32, 0xcc\n"                                           // 160
          "back: jmp circle\n .balign 32, 0xcc\n"                                                 // 192
          "by_pointer: jmp *8(%rax)\n .balign 32, 0xcc\n"                                         // 224
          "to_pointer: jmp by_pointer\n .balign 32, 0xcc\n"                                       // 256
          "midst: jmp shared + 3\n .balign 32, 0xcc\n"                                            // 288
          "parted: push %rbx\n jmp part\n 1: pop %rbx\n ret\n .balign 32, 0xcc\n"                 // 320
          "part: nop\n jmp parted + 3\n .balign 32, 0xcc\n"                                       // 352
          "lost: push %rbx\n jmp shared\n .balign 32, 0xcc\n"                                     // 384
          "stub: jmp *64(%rip)\n .balign 32, 0xcc\n"                                              // 416
          "to_stub: nop\n jmp stub\n .balign 32, 0xcc\n"                                          // 448
          "to_table: jmp table\n .balign 32, 0xcc\n"                                              // 480
          "table: mov (%rdi), %rax\n add %rdx, %rcx\n jmp *%rax\n .balign 32, 0xcc\n"             // 512
          "entering: push %rbx\n jmp piece + 1\n 1: pop %rbx\n ret\n .balign 32, 0xcc\n"          // 544
          "piece: nop\n nop\n jmp entering + 3\n .balign 32, 0xcc\n")                             // 576

constexpr uint64_t kBytes = 32;

// Where the stack has grown, in the functions that let it.
bool is_as_entered(uint64_t offset) {
  const uint64_t function = offset & ~(kBytes - 1);
  return function == 352 ? false : (function != 320 && function != 384) || offset == function;
}

TailExits exits_of(uint64_t offset) {
  const auto function = [](uint64_t at) {
    uint64_t size = kBytes;
    while (file()[at + size - 1] == 0xcc) size--;
    return FunctionExtent{at, size, size};
  };
  return find_tail_exits(function(offset),
                         {[](const FunctionExtent& its) { return file().subspan(its.offset, its.size); },
                          [&](uint64_t at) -> std::optional<FunctionExtent> {
                            if (at % kBytes != 0) return std::nullopt;
                            return function(at);
                          },
                          [&](uint64_t at) { return std::optional(function(at & ~(kBytes - 1))); }, is_as_entered});
}

std::vector<std::pair<uint64_t, uint32_t>> others_of(const TailExits& exits) {
  std::vector<std::pair<uint64_t, uint32_t>> made;
  for (const TailExits::Other& one : exits.others) made.emplace_back(one.function.offset, one.offset);
  return made;
}

// Assemblers choose the lengths of branches.
std::vector<uint32_t> offsets_of(uint64_t function, Flow flow) {
  std::vector<uint32_t> offsets;
  for (const MachineInstruction& one : decode_function(file().subspan(function, kBytes)).instructions)
    if (one.flow == flow) offsets.push_back(one.offset);
  return offsets;
}

testing::Matcher<std::vector<std::pair<uint64_t, uint32_t>>> are_those_of_shared() {
  const std::vector<uint32_t> returns = offsets_of(32, Flow::return_);
  return ElementsAre(std::pair(uint64_t{32}, returns.at(0)), std::pair(uint64_t{32}, returns.at(1)));
}

TEST(TailExits, AreThoseOfTheFunctionThatIsJumpedTo) {
  const TailExits exits = exits_of(0);
  EXPECT_EQ(exits.refusal, "");
  EXPECT_TRUE(exits.returns.empty());
  ASSERT_EQ(exits.jumps.size(), 1);
  EXPECT_EQ(exits.jumps[0].offset, 3);
  EXPECT_FALSE(exits.jumps[0].is_conditional);
  EXPECT_THAT(others_of(exits), are_those_of_shared());
  EXPECT_EQ(exits.others[0].by, 3);
  EXPECT_EQ(exits.others[0].depth, 1);
}

TEST(TailExits, ABranchIsAJumpThatMayNotBeTaken) {
  const TailExits exits = exits_of(64);
  EXPECT_EQ(exits.returns, offsets_of(64, Flow::return_));
  ASSERT_EQ(exits.jumps.size(), 1);
  EXPECT_TRUE(exits.jumps[0].is_conditional);
}

TEST(TailExits, JumpsAreFollowed) {
  const TailExits exits = exits_of(96);
  EXPECT_THAT(others_of(exits), are_those_of_shared());
  EXPECT_EQ(exits.others[0].depth, 2);
  EXPECT_EQ(exits.others[0].by, 1);
}

TEST(TailExits, OfSeveralJumpsToOneReturnNoneIsSaid) {
  const TailExits exits = exits_of(128);
  EXPECT_EQ(exits.jumps.size(), 2);
  EXPECT_THAT(others_of(exits), are_those_of_shared());
  EXPECT_EQ(exits.others[0].by, std::nullopt);
  EXPECT_EQ(exits.others[0].depth, 2);
}

TEST(TailExits, APartOfTheFunctionComesBackWhereverItIsEntered) {
  for (const uint64_t parted : {320, 544}) {
    const TailExits exits = exits_of(parted);
    EXPECT_EQ(exits.refusal, "") << parted;
    EXPECT_TRUE(exits.jumps.empty());
    EXPECT_EQ(exits.returns.size(), 1);
  }
}

TEST(TailExits, AreRefusedWhereTheyAreNotAllKnown) {
  EXPECT_EQ(exits_of(160).refusal, "it leaves by a jump to a function that may jump back");
  EXPECT_EQ(exits_of(192).refusal, "it leaves by a jump to a function that may jump back");
  for (const uint64_t pointer : {224, 256, 448})
    EXPECT_NE(exits_of(pointer).refusal.find("pointer"), std::string_view::npos) << pointer << exits_of(pointer).refusal;
  EXPECT_EQ(exits_of(288).refusal, "it leaves by a jump into the middle of another function");
  EXPECT_EQ(exits_of(384).refusal, "it leaves by a jump to another function, and the stack is not known there");
  EXPECT_EQ(exits_of(480).refusal, "not all instructions that leave the function are known");
}

}  // namespace
}  // namespace dvm::runtime
