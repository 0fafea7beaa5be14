// The steps by which a thread makes a record, from its layout.

#include "runtime/instrument/agent/record_program.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/inside/format.h"
#include "runtime/process/captured_numbers.h"

namespace dvm::runtime {
namespace {

using inside::RecordStep;

std::vector<RecordStep> steps_of(const std::vector<std::byte>& program) {
  inside::RecordProgram head;
  std::memcpy(&head, program.data(), sizeof head);
  std::vector<RecordStep> steps(head.steps);
  std::memcpy(steps.data(), program.data() + sizeof head, steps.size() * sizeof(RecordStep));
  return steps;
}

const RecordStep* step_at(const std::vector<RecordStep>& steps, uint32_t at) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const RecordStep& one) { return one.at == at; });
  return found == steps.end() ? nullptr : &*found;
}

CaptureNeeds frames_only(uint16_t frames) {
  CaptureNeeds needs;
  needs.frames = frames;
  return needs;
}

TEST(RecordProgram, AnEntryKnowsItsCallerByTheReturnAddress) {
  const RecordLayout layout = make_agent_layouts(frames_only(2), SiteShape(SiteKind::entry, 24)).first;
  const std::vector<RecordStep> steps = steps_of(make_record_program(layout));
  const RecordStep *caller = step_at(steps, layout.stack + 8), *counter = step_at(steps, layout.stack + 16);
  ASSERT_TRUE(caller != nullptr && counter != nullptr);
  EXPECT_EQ(step_at(steps, layout.stack)->value, 8);
  EXPECT_EQ(caller->kind, RecordStep::Kind::memory);
  EXPECT_EQ(caller->base, inside::kStackWord);
  EXPECT_EQ(caller->value, 24);
  EXPECT_EQ(counter->kind, RecordStep::Kind::saved);
  EXPECT_EQ(counter->base, 16);
}

// Their system calls have no arguments but 0. Nothing else of the process can be asked for so.
TEST(RecordProgram, NumbersOfTheProcessAreAnswersOfTheKernel) {
  CaptureNeeds needs;
  needs.process_numbers = 1u << process_number::sid | 1u << process_number::policy | 1u << process_number::priority;
  needs.ancestors = needs.directory = needs.command = true;
  const RecordLayout layout = make_agent_layouts(possible_needs(needs, SiteKind::entry), SiteKind::entry).first;
  ASSERT_EQ(layout.slots.size(), 2u);
  EXPECT_FALSE(record_makes_calls(make_record_program(layout)));  // they may be absent
  const std::vector<RecordStep> steps = steps_of(make_record_program(layout));
  const int64_t calls[] = {SYS_getsid, SYS_sched_getscheduler};
  for (size_t n = 0; n < 2; n++) {
    const RecordStep *size = step_at(steps, layout.slots[n].at), *number = step_at(steps, layout.slots[n].at + 8);
    ASSERT_TRUE(size != nullptr && number != nullptr);
    EXPECT_EQ(size->value, 8);
    EXPECT_EQ(number->kind, RecordStep::Kind::answer);
    EXPECT_EQ(number->value, calls[n]);
    EXPECT_EQ(number->from, layout.slots[n].at);
  }
}

TEST(RecordProgram, WordsInVectorRegistersAndVariablesNeedNoCall) {
  SiteShape shape = SiteKind::inside;
  shape.args[0] = Operand::of_vector(9, 4);
  CaptureNeeds needs;
  needs.args = 1;
  needs.add(KeptWord{7, Word(0), 16});
  const RecordLayout layout = make_agent_layouts(possible_needs(needs, shape), shape).first;
  const std::vector<std::byte> program = make_record_program(layout);
  const std::vector<RecordStep> steps = steps_of(program);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, RecordStep::Kind::xmm);
  EXPECT_EQ(std::pair(steps[0].base, steps[0].size), std::pair(uint8_t{9}, uint8_t{4}));
  EXPECT_EQ(steps[1].kind, RecordStep::Kind::keep);
  EXPECT_EQ(std::pair(steps[1].base, steps[1].value), std::pair(uint8_t{7}, int64_t{16}));
  EXPECT_EQ(steps[1].from, layout.args[0]);
  EXPECT_FALSE(record_makes_calls(program));
}

TEST(RecordProgram, ReadsNoReturnAddressThatNobodyAsksFor) {
  for (const SiteShape& shape : {SiteShape(SiteKind::entry), SiteShape(SiteKind::inside)}) {
    const std::vector<std::byte> program = make_record_program(make_agent_layouts(frames_only(1), shape).first);
    EXPECT_FALSE(record_makes_calls(program));
  }
  EXPECT_TRUE(record_makes_calls(make_record_program(make_agent_layouts(frames_only(2), SiteKind::entry).first)));
}

TEST(RecordProgram, ACopiedStackIsUnwoundByDvm) {
  CaptureNeeds needs = frames_only(9);
  needs.stack_bytes = 1024;
  const RecordLayout layout = make_agent_layouts(needs, SiteKind::entry).first;
  const std::vector<RecordStep> steps = steps_of(make_record_program(layout));
  ASSERT_NE(step_at(steps, layout.stack_at), nullptr);
  EXPECT_EQ(step_at(steps, layout.stack_at)->kind, RecordStep::Kind::stack);
  EXPECT_EQ(step_at(steps, layout.stack_at)->most, 1024u);
  EXPECT_EQ(step_at(steps, layout.chain)->kind, RecordStep::Kind::chain);
}

TEST(RecordProgram, WithoutACopyTheThreadFollowsFramePointers) {
  for (const SiteKind kind : {SiteKind::entry, SiteKind::inside}) {
    const RecordLayout layout = make_agent_layouts(frames_only(9), SiteShape(kind, 16)).first;
    const std::vector<std::byte> program = make_record_program(layout);
    const std::vector<RecordStep> steps = steps_of(program);
    const RecordStep* stack = step_at(steps, layout.stack);
    ASSERT_NE(stack, nullptr);
    EXPECT_EQ(stack->kind, RecordStep::Kind::frames);
    EXPECT_EQ(stack->most, 9u);
    EXPECT_EQ(stack->value, kind == SiteKind::entry ? 16 : -1);
    EXPECT_TRUE(record_makes_calls(program));
  }
}

CaptureNeeds strings(unsigned count) {
  CaptureNeeds needs;
  for (unsigned n = 0; n < count; n++) needs.add({Word(static_cast<uint8_t>(n)), true, 0, 4096, {}});
  return needs;
}

TEST(RecordProgram, LongStringsHaveALargerRecord) {
  const RecordLayouts layouts = make_agent_layouts(possible_needs(strings(3), SiteKind::entry), SiteKind::entry);
  ASSERT_TRUE(layouts.larger);
  EXPECT_LT(layouts.first.size, 1024U);
  EXPECT_GT(layouts.larger->size, 3 * 4096U);
  for (const RecordLayout& one : {layouts.first, *layouts.larger}) EXPECT_EQ(one.least, one.slots.back().at + 8);
}

TEST(RecordProgram, ARecordEndsWithItsLastString) {
  const CaptureNeeds needs = possible_needs(strings(1), SiteKind::entry);
  const RecordLayout layout = make_agent_layouts(needs, SiteKind::entry).first;
  inside::RecordProgram head;
  const std::vector<std::byte> program = make_record_program(layout);
  std::memcpy(&head, program.data(), sizeof head);
  EXPECT_EQ(head.cut_at, layout.slots.back().at);
  EXPECT_EQ(layout.least, layout.slots.back().at + 8);
}

}  // namespace
}  // namespace dvm::runtime
