// The plan of return probes: on the instructions that leave the function, by a uretprobe, or none.
#include "runtime/instrument/uprobe/return_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/process/process.h"

#define FUNCTION(name, code)                                                                                                \
  extern "C" void name();                                                                                                   \
  asm(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code "\n.size " #name ", . - " #name \
      "\n.popsection");

FUNCTION(rp_leaf, "mov %rdi, %rax\n ret")
FUNCTION(rp_two_ways, "test %rdi, %rdi\n je 1f\n ret\n 1: xor %eax, %eax\n ret")
FUNCTION(rp_calls, "push %rbx\n call rp_leaf\n pop %rbx\n ret")
FUNCTION(rp_calls_calls, "call rp_calls\n ret")
FUNCTION(rp_stub, "jmp *rp_pointer(%rip)\n rp_pointer: .quad 0")
FUNCTION(rp_calls_stub, "push %rbx\n call rp_stub\n pop %rbx\n ret")
FUNCTION(rp_calls_stub_too, "call rp_calls_stub\n ret")
FUNCTION(rp_locked, "lock incl (%rdi)\n call rp_leaf\n ret")
FUNCTION(rp_locked_unknown, "lock incl (%rdi)\n test %rdi, %rdi\n je 1f\n jmp *%rax\n 1: ret")
FUNCTION(rp_calls_itself, "push %rbx\n call rp_calls_itself\n pop %rbx\n ret")
FUNCTION(rp_begins_again, "test %rdi, %rdi\n je 1f\n dec %rdi\n jmp rp_begins_again\n 1: ret")
FUNCTION(rp_ping, "push %rbx\n call rp_pong\n pop %rbx\n ret")
FUNCTION(rp_pong, "push %rbx\n call rp_ping\n pop %rbx\n ret")
FUNCTION(rp_leaves_by_jump, "mov %rdi, %rax\n jmp rp_leaf")
FUNCTION(rp_leaves_by_branch, "test %rdi, %rdi\n jne 1f\n ret\n 1: jmp rp_calls")
FUNCTION(rp_resolver, ".cfi_startproc\n .cfi_adjust_cfa_offset 16\n mov %rdi, %rax\n jmp *%rax\n .cfi_endproc")
FUNCTION(rp_start, ".cfi_startproc\n .cfi_undefined rip\n call rp_leaf\n hlt\n .cfi_endproc")
FUNCTION(rp_keeps, "mov (%rsp), %rax\n mov %rax, (%rdi)\n ret")
FUNCTION(rp_keeps_elsewhere, "xor %esi, %esi\n jmp rp_keeps")
asm(".pushsection .text.rp_far, \"ax\", @progbits\n.type rp_far.cold, @function\nrp_far.cold:\n call rp_leaf\n 1: jmp "
    "rp_far_back\n"
    ".size rp_far.cold, . - rp_far.cold\n.type rp_gone.cold, @function\nrp_gone.cold:\n xor %eax, %eax\n ret\n"
    ".size rp_gone.cold, . - rp_gone.cold\n.popsection");
FUNCTION(rp_far, "test %rdi, %rdi\n jne rp_far.cold\n rp_far_back: ret")
FUNCTION(rp_gone, "test %rdi, %rdi\n jne rp_gone.cold\n ret")
// Parts that only unwinders know, as in stripped files.
asm(".pushsection .text.rp_unnamed, \"ax\", @progbits\n.cfi_startproc\n nop\n .Lrp_unnamed: call rp_leaf\n jmp rp_unnamed_back\n"
    ".cfi_endproc\n.cfi_startproc\n nop\n .Lrp_unnamed_gone: xor %eax, %eax\n ret\n.cfi_endproc\n.popsection");
FUNCTION(rp_unnamed, "test %rdi, %rdi\n jne .Lrp_unnamed\n rp_unnamed_back: ret")
FUNCTION(rp_unnamed_gone, "test %rdi, %rdi\n jne .Lrp_unnamed_gone\n ret")
FUNCTION(rp_unknown, "call rp_leaf\n test %rdi, %rdi\n je 1f\n jmp *%rax\n 1: ret")

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using By = ReturnPlan::By;

constexpr ReturnWants kOffset{true, false, false}, kValue{false, true, false}, kOffsetAndValue{true, true, false};
constexpr ReturnWants kCallers{false, false, true}, kPlace{false, false, false, true};
const std::string kGoMarked = DVM_BINARY_DIR "/tests/unit/instrument/go_marked";

// In this process exceptions can be thrown; in the other, of C, they cannot.
class ReturnPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    auto process = Process::spawn(std::vector{kGoMarked});
    ASSERT_TRUE(process) << process.error().message;
    other_.emplace(std::move(*process));
  }

  ReturnPlan plan(std::string_view name, pid_t pid, ReturnWants wants = {}, const std::string& path = "/proc/self/exe",
                  ReturnBy by = ReturnBy::safe) {
    const auto elf = ElfObject::read(path);
    const auto code = ModuleCode::open(path);
    if (!elf || !code) {
      ADD_FAILURE() << path;
      return {};
    }
    const auto& all = (*elf)->functions();
    const auto found = std::find_if(all.begin(), all.end(), [&](const ElfFunction& one) { return one.name == name; });
    if (found == all.end()) {
      ADD_FAILURE() << name;
      return {};
    }
    UprobeSite site{path, found->offset, true, pid};
    site.size = found->size;
    return planner_.plan(site, code->get(), wants, by);
  }
  ReturnPlan plan_by(ReturnBy by, std::string_view name, pid_t pid) { return plan(name, pid, {}, "/proc/self/exe", by); }
  pid_t thrower() const { return getpid(); }
  pid_t other() const { return other_->pid(); }

  ReturnPlanner planner_;
  std::optional<Process> other_;
};

TEST_F(ReturnPlanTest, NothingSeesAUretprobeOfALeaf) {
  const ReturnPlan leaf = plan("rp_leaf", thrower());
  EXPECT_EQ(leaf.by, By::uretprobe);
  EXPECT_EQ(leaf.only_exit, 3U);
  EXPECT_EQ(plan("rp_two_ways", thrower()).by, By::uretprobe);
  EXPECT_EQ(plan("rp_two_ways", thrower()).only_exit, std::nullopt);
}

TEST_F(ReturnPlanTest, NoUretprobeWhereTheReturnAddressIsNoUsualOne) {
  for (const char* name : {"rp_resolver", "rp_start"}) {
    EXPECT_EQ(plan(name, other()).by, By::nothing) << name;
    EXPECT_THAT(std::string(plan(name, other()).why_not), HasSubstr("return address"));
  }
  EXPECT_EQ(plan("rp_keeps", other()).by, By::exits);
  EXPECT_EQ(plan("rp_keeps_elsewhere", other()).by, By::exits);
}

TEST_F(ReturnPlanTest, TheOffsetIsToldByTheExits) {
  EXPECT_EQ(plan("rp_leaf", thrower(), kOffset).by, By::uretprobe);
  const ReturnPlan two = plan("rp_two_ways", thrower(), kOffset);
  EXPECT_EQ(two.by, By::exits);
  EXPECT_THAT(two.exits, ElementsAre(5, 8));
}

TEST_F(ReturnPlanTest, TheValueIsToldWhereAnotherFunctionReturns) {
  EXPECT_EQ(plan("rp_leaves_by_jump", other(), kValue).by, By::uretprobe);
  EXPECT_EQ(plan("rp_leaves_by_branch", other(), kOffset).by, By::exits);
  EXPECT_EQ(plan("rp_leaves_by_branch", other(), kOffsetAndValue).by, By::uretprobe);
  EXPECT_EQ(plan("rp_calls", thrower(), kValue).by, By::exits) << "only returns leave it";
  const ReturnPlan thrown = plan("rp_leaves_by_jump", thrower(), kValue);
  EXPECT_EQ(thrown.by, By::nothing);
  EXPECT_THAT(std::string(thrown.why_not), HasSubstr("arg1"));
}

TEST_F(ReturnPlanTest, ExceptionsPassNoUretprobe) {
  EXPECT_EQ(plan("rp_calls", thrower()).by, By::exits);
  EXPECT_EQ(plan("rp_calls", other()).by, By::uretprobe);
  EXPECT_THAT(plan("rp_leaves_by_jump", thrower()).exits, ElementsAre(3));
}

TEST_F(ReturnPlanTest, RecursionIsSeenInFull) {
  EXPECT_EQ(plan("rp_calls_itself", other()).by, By::exits);
  EXPECT_EQ(plan("rp_begins_again", other()).by, By::exits);
  EXPECT_EQ(plan("rp_ping", other()).by, By::exits);
}

TEST_F(ReturnPlanTest, WhatLiesBehindACalleeIsNoneOfIt) {
  EXPECT_EQ(plan("rp_calls", other()).by, By::uretprobe) << "rp_calls_calls lies behind rp_leaf";
  EXPECT_EQ(plan("rp_calls_stub", other()).by, By::uretprobe) << "rp_calls_stub_too lies behind the stub";
}

TEST_F(ReturnPlanTest, WhereNoProbeCanLieAtTheEntryTheExitsAreProbed) {
  EXPECT_EQ(plan("rp_locked", other()).by, By::exits);
  EXPECT_EQ(plan("rp_locked", other()).exits.size(), 1U);
  EXPECT_EQ(plan("rp_locked_unknown", other()).by, By::uretprobe) << "it is put behind the first instruction";
}

TEST_F(ReturnPlanTest, TheScriptMayChoose) {
  EXPECT_EQ(plan_by(ReturnBy::uretprobe, "rp_calls", thrower()).by, By::uretprobe);
  EXPECT_EQ(plan_by(ReturnBy::uretprobe, "rp_unknown", thrower()).by, By::uretprobe);
  EXPECT_EQ(plan_by(ReturnBy::uretprobe, "rp_calls_itself", other()).by, By::uretprobe);
  EXPECT_EQ(plan_by(ReturnBy::uretprobe, "rp_keeps", other()).by, By::exits);
  EXPECT_EQ(plan_by(ReturnBy::uretprobe, "rp_start", other()).by, By::nothing);
  EXPECT_EQ(plan("go_unknown", other(), {}, kGoMarked, ReturnBy::uretprobe).by, By::nothing);
  EXPECT_EQ(plan_by(ReturnBy::exits, "rp_leaf", other()).by, By::exits);
  const ReturnPlan unknown = plan_by(ReturnBy::exits, "rp_unknown", other());
  EXPECT_EQ(unknown.by, By::nothing);
  EXPECT_THAT(std::string(unknown.why_not), HasSubstr("not all instructions that leave the function are known"));
}

TEST_F(ReturnPlanTest, NoUretprobeGoesToAllProcesses) {
  planner_ = ReturnPlanner(true);
  for (const char* name : {"rp_leaf", "rp_calls"}) EXPECT_EQ(plan(name, other()).by, By::exits) << name;
  EXPECT_EQ(plan("rp_unknown", other()).by, By::nothing);
  EXPECT_THAT(std::string(plan("rp_unknown", other()).why_not), HasSubstr("-x followfork"));
  EXPECT_EQ(plan_by(ReturnBy::uretprobe, "rp_unknown", other()).by, By::uretprobe);
}

TEST_F(ReturnPlanTest, TheReasonNamesTheOptionThatOverridesIt) {
  EXPECT_THAT(std::string(plan("rp_unknown", thrower()).why_not), HasSubstr("-x return=uretprobe"));
  EXPECT_THAT(std::string(plan("rp_start", other()).why_not), Not(HasSubstr("-x return=uretprobe")));
}

TEST_F(ReturnPlanTest, AWalkToTheCallersMeetsNoUretprobe) {
  constexpr const char* kSelf = "/proc/self/exe";
  EXPECT_EQ(plan("rp_calls", other(), {}, kSelf).by, By::uretprobe);
  EXPECT_EQ(plan("rp_calls", other(), kCallers, kSelf, ReturnBy::safe).by, By::exits);
  EXPECT_EQ(plan("rp_unknown", other(), kCallers, kSelf, ReturnBy::safe).by, By::uretprobe);
  EXPECT_EQ(plan("rp_calls", other(), kCallers, kSelf, ReturnBy::uretprobe).by, By::uretprobe);
}

TEST_F(ReturnPlanTest, RegistersAreThoseOfTheFunction) {
  EXPECT_EQ(plan("rp_leaf", other(), kPlace).by, By::exits);
  EXPECT_EQ(plan("rp_unknown", other(), kPlace).by, By::uretprobe);
}

TEST_F(ReturnPlanTest, WhatCannotBeSafeIsLeftOut) {
  const ReturnPlan unknown = plan("rp_unknown", thrower());
  EXPECT_EQ(unknown.by, By::nothing);
  EXPECT_THAT(std::string(unknown.why_not), HasSubstr("an exception through a return probe ends the program"));
  EXPECT_EQ(plan("rp_unknown", other()).by, By::uretprobe);
}

TEST_F(ReturnPlanTest, PartsThatWereMovedAwayAreLookedInto) {
  const ReturnPlan far = plan("rp_far", thrower());
  EXPECT_EQ(far.by, By::exits);
  EXPECT_EQ(far.exits.size(), 1U);
  EXPECT_EQ(plan("rp_gone", thrower()).by, By::nothing);
  EXPECT_EQ(plan("rp_unnamed", thrower()).exits.size(), 1U);
  EXPECT_EQ(plan("rp_unnamed_gone", thrower()).by, By::nothing);
}

TEST_F(ReturnPlanTest, GoNeverGetsAUretprobe) {
  EXPECT_EQ(plan("go_leaf", other(), {}, kGoMarked).by, By::exits);
  const ReturnPlan unknown = plan("go_unknown", other(), {}, kGoMarked);
  EXPECT_EQ(unknown.by, By::nothing);
  EXPECT_THAT(std::string(unknown.why_not), HasSubstr("the program is Go's"));
}

TEST_F(ReturnPlanTest, WhatCannotBeReadHasAUretprobe) {
  const UprobeSite site{"/nonexistent", 0, true, other()};
  EXPECT_EQ(planner_.plan(site, nullptr).by, By::uretprobe);
}

TEST(ModuleCodeOfGo, IsKnownByItsNote) {
  EXPECT_TRUE((*ModuleCode::open(kGoMarked))->is_go());
  EXPECT_FALSE((*ModuleCode::open("/proc/self/exe"))->is_go());
}

}  // namespace
}  // namespace dvm::runtime
