// Records and times of firings that the code of a stub takes.

#include <gtest/gtest.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "runtime/agent/inside/time.h"
#include "runtime/agent/site_ability.h"
#include "runtime/instrument/agent/global_code.h"
#include "site_run.h"

namespace dvm::runtime {
namespace {

// A record of registers, parts of them, constants and the numbers of process and thread.
AgentFirer recording(std::vector<AgentStep> steps, uint32_t length) {
  using inside::RecordStep;
  const RecordStep all[] = {
      {.kind = RecordStep::Kind::thread, .at = 8},
      {.kind = RecordStep::Kind::saved, .base = saved::rdi, .at = 16},
      {.kind = RecordStep::Kind::saved, .base = saved::rcx, .size = 2, .shift = 8, .is_signed = 1, .at = 24},
      {.kind = RecordStep::Kind::saved, .base = saved::r8, .size = 4, .at = 32},
      {.kind = RecordStep::Kind::constant, .at = 40, .value = -5},
      {.kind = RecordStep::Kind::constant, .at = 48, .value = 0x123456789abcdef}};
  const inside::RecordProgram program{static_cast<uint32_t>(std::size(all)), length, 0, 0};
  AgentFirer made = firer(std::move(steps));
  made.program.resize(sizeof program + sizeof all);
  std::memcpy(made.program.data(), &program, sizeof program);
  std::memcpy(made.program.data() + sizeof program, all, sizeof all);
  return made;
}

TEST_F(SiteRun, MakesRecords) {
  const auto nothing = [](Registers&) {};
  compare({recording({}, 56)}, 20000, nothing, true);
  EXPECT_GT(lost_, 0);
  compare({recording({step(Kind::predicate, masked(BuiltIn::arg0, 1), 1), step(Kind::record),
                      step(Kind::predicate, masked(BuiltIn::arg1, 6), 1), step(Kind::record)},
                     61),
           recording({step(Kind::predicate, value_of(BuiltIn::tid), 1), step(Kind::record)}, 64)},
          5000, nothing, true);
  compare({firer({aggregation(1, SiteFunction::sum, value_of(BuiltIn::arg0))}), recording({}, 56)}, 5000, nothing, true);
}

// dvm has read all, and reads no more.
TEST_F(SiteRun, UsesTheWholeRingAfterItHasBegunAnew) {
  constexpr uint64_t kBytes = 1 << 20, kRecord = sizeof(inside::RecordHead) + 56;
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    Agent agent(armed, kBytes);
    agent.place({recording({}, 56)});
    agent.fire(some_registers(random_));
    while (agent.lane().head < kBytes / 2) agent.fire(some_registers(random_));
    agent.lane().tail = agent.lane().head;
    agent.fire(some_registers(random_));
    EXPECT_EQ(agent.lane().tail, kBytes);
    EXPECT_EQ(agent.lane().head, kBytes + kRecord);
    agent.lane().head = kBytes / 2;  // as if that firing had left no record
    agent.fire(some_registers(random_));
    EXPECT_EQ(agent.lane().head, kBytes + kRecord);
    for (uint64_t i = 0; i < kBytes / kRecord; i++) agent.fire(some_registers(random_));
    EXPECT_EQ(agent.lane().head, kBytes + kBytes / kRecord * kRecord);
    EXPECT_EQ(agent.lane().full, 1U);
  }
}

// As those are of records with stacks.
TEST_F(SiteRun, UsesLittleOfALargeRing) {
  constexpr uint64_t kBytes = 16 << 20;
  Agent agent(inside::kAlone, kBytes);
  agent.place({recording({}, 56)});
  agent.fire({});
  while (agent.lane().head < 768 * 1024) agent.fire({});
  agent.lane().tail = agent.lane().head;
  agent.fire({});
  EXPECT_EQ(agent.lane().tail, kBytes);
}

AgentStep clause_record(uint32_t number, std::initializer_list<uint8_t> values) {
  AgentStep made = step(Kind::clause_record);
  made.record.program = recording({}, 61).program;
  inside::ClauseRecord& record = made.record.record;
  record.number = number, record.programs.cookie = 1;
  for (const uint8_t value : values) record.values[record.count++] = value;
  return made;
}

// All of one length, so that those of one turn of the ring lie where those of the turn before lay.
TEST_F(SiteRun, MakesRecordsOfClausesWithTheirVariables) {
  constexpr uint8_t kLocal = inside::kMostVariables;
  AgentFirer made = firer({step(Kind::predicate, masked(BuiltIn::arg0, 1), 2), clause_record(7, {0, kLocal}),
                           step(Kind::evaluate, adds_to(dif::Scope::thread)), step(Kind::evaluate, adds_to(dif::Scope::clause)),
                           step(Kind::predicate, masked(BuiltIn::arg1, 2), 2), clause_record(8, {kLocal, 0}),
                           aggregation(1, SiteFunction::sum, adds_to(dif::Scope::thread)), clause_record(9, {3, kLocal})});
  made.locals = 1, made.has_variables = true;
  compare(
      {made}, 5000, [](Registers&) {}, true);
}

// Steps of `/n < arg0/ { n++; ... }`, for the first global variable.
std::vector<AgentStep> counting_below(inside::Globals& globals) {
  constexpr std::array<uint16_t, 1> kKept = {dif::kFirstUserVariable};
  const SiteShape shape = SiteKind::entry;
  ClausePlace place{shape, {}, 1};
  place.kept = kKept, place.seen = kKept[0];
  const dif::Variable n{"n", kKept[0], dif::Scope::global, dif::VariableKind::scalar, true, true, kWord};
  const Instruction read = Instruction::indexed(Opcode::ldgs, n.id, 1), one = Instruction::indexed(Opcode::setx, 0, 2);
  const auto made = [&](std::vector<Instruction> text) {
    return make_value_code({std::move(text), {1}, "", {n}, kWord}, kWord, place).code;
  };
  const MachineCode below =
      made({read, load(BuiltIn::arg0, 2), op(Opcode::cmp, 1, 2, 0), Instruction::indexed(Opcode::setx, 0, 3),
            Instruction::branch(Opcode::bl, 6), op(Opcode::mov, 0, 0, 3), op(Opcode::ret, 0, 0, 3)});
  const MachineCode adds =
      made({read, one, op(Opcode::add, 1, 2, 1), Instruction::indexed(Opcode::stgs, n.id, 1), op(Opcode::ret, 0, 0, 1)});
  std::vector<AgentStep> steps = {step(Kind::see, make_see_code(n, place, {.is_recorded = true})),
                                  step(Kind::predicate, make_change_code(below, adds)), step(Kind::retry)};
  for (AgentStep& its : steps) its.code.place_globals(reinterpret_cast<uint64_t>(&globals));
  return steps;
}

TEST_F(SiteRun, RecordsAGlobalFromBeforeAndBehindItsChange) {
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    inside::Globals globals;
    std::vector<AgentStep> steps = counting_below(globals);
    steps.push_back(clause_record(7, {inside::kEarlierValue, inside::kSeenValue}));
    steps[1].step.skip = 2;
    Agent agent(armed);
    agent.place({firer(steps)});
    Registers registers{};
    registers.words[saved::rdi] = 3;
    for (int i = 0; i < 10; i++) agent.fire(registers);
    EXPECT_EQ(globals.changes[0], 3U);
    const std::vector<uint64_t> words = agent.ring();
    const size_t size = 2 + (words[0] + 7) / sizeof(uint64_t);
    EXPECT_EQ(agent.lane().head, 3 * size * sizeof(uint64_t));
    for (size_t i = 0; i < 3; i++) {
      EXPECT_EQ(words[i * size + 3], i);
      EXPECT_EQ(words[i * size + 4], i + 1);
    }
  }
}

TEST_F(SiteRun, GivesRecordsTheTimeAtWhichAGlobalWasSeen) {
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    inside::Globals globals;
    std::vector<AgentStep> steps = counting_below(globals);
    steps[1].step.skip = 3;
    steps.insert(steps.end(), 2, clause_record(7, {}));
    for (size_t i = 3; i < 5; i++) steps[i].record.record.is_seen = 1;
    Agent agent(armed);
    agent.place({firer(steps)});
    Registers registers{};
    registers.words[saved::rdi] = 9;
    for (int i = 0; i < 2; i++) agent.fire(registers);
    const uint64_t ring = agent.context().data + inside::rings_at(kLanes);
    const auto* words = reinterpret_cast<const uint64_t*>(ring + agent.lane_number() * kRing);
    const size_t size = agent.lane().head / 4 / sizeof(uint64_t);
    const auto time = [&](size_t record) { return words[record * size + 1]; };
    EXPECT_EQ(time(0), time(1));
    EXPECT_EQ(time(2), time(3));
    EXPECT_LT(time(1), time(2));
  }
}

TEST_F(SiteRun, ChangesAGlobalAtOneTimeInSeveralThreads) {
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    inside::Globals globals;
    std::vector<AgentStep> steps = counting_below(globals);
    steps.push_back(aggregation(0, SiteFunction::count, {}));
    steps[1].step.skip = 2;
    Agent agent(armed);
    agent.page().muted = 0;
    agent.place({firer(steps)});
    const auto fire = [&] {
      Registers registers{};
      registers.words[saved::rdi] = 50000;
      for (int i = 0; i < 60000; i++) agent.fire(registers);
    };
    std::thread other(fire);
    fire();
    other.join();
    uint64_t counted = 0;
    for (uint32_t i = 0; i < kLanes; i++) counted += agent.lanes()[i].counts[0][0];
    EXPECT_EQ(counted, 50000U);
    EXPECT_EQ(globals.changes[0], 50000U);
  }
}

TEST_F(SiteRun, PutsTheTimeOfTheFiringIntoTheRecordOfAClause) {
  Agent agent(inside::kAlone);
  agent.header().clock[0] = inside::line_through(__rdtsc(), 1'000'000, uint64_t{1} << inside::kRateBits);
  agent.place({firer({step(Kind::time), clause_record(1, {inside::kTimeValue})})});
  agent.fire({});  // by agent_enter, like all first ones
  const uint64_t first = agent.lane().time;
  EXPECT_GT(first, 1'000'000U);
  agent.fire({});
  const std::vector<uint64_t> words = agent.ring();
  EXPECT_EQ(words[3], first);
  EXPECT_EQ(words[2 + words[0] / sizeof(uint64_t) + 1 + 3], agent.lane().time);
}

TEST_F(SiteRun, TellsTheTimeOnce) {
  const auto times = aggregation(1, SiteFunction::max, value_of(BuiltIn::timestamp));
  const auto same = aggregation(2, SiteFunction::min, value_of(BuiltIn::timestamp));
  Agent agent(inside::kAlone);
  agent.place({firer({step(Kind::time), times, step(Kind::time), same})});
  agent.fire({});
  const uint64_t first = agent.lane().time;
  agent.fire({});
  EXPECT_GE(agent.lane().time, first);
  EXPECT_EQ(agent.lane().turns, 4);
}

// One step may have been left out, and the next one not.
TEST_F(SiteRun, TellsTheSameTimeBehindPredicates) {
  const auto time_of = [](uint32_t number) { return aggregation(number, SiteFunction::max, value_of(BuiltIn::timestamp)); };
  Agent agent(inside::kAlone);
  agent.header().clock[0] = inside::line_through(__rdtsc(), 1'000'000, uint64_t{1} << (inside::kRateBits - 1));
  agent.place(
      {firer({step(Kind::predicate, masked(BuiltIn::arg0, 1), 3), step(Kind::time), time_of(0), step(Kind::time),
              step(Kind::predicate, masked(BuiltIn::arg0, 2), 2), step(Kind::time), time_of(1), step(Kind::time), time_of(2)})});
  for (const uint64_t first : {0, 1, 2, 3, 0, 3, 1, 2}) {
    Registers registers;
    registers.words[saved::rdi] = first;
    agent.fire(registers);
    const auto* words = reinterpret_cast<const uint64_t*>(&agent.first_arena() + 1);
    const std::vector<uint64_t> entries(words, words + agent.first_arena().used / sizeof(uint64_t));
    for (size_t i = 0; i < entries.size(); i += 3) {
      const uint64_t clause = entries[i] & UINT32_MAX;
      const bool has_run = clause == 2 || (first >> clause & 1) != 0;
      EXPECT_TRUE(!has_run || entries[i + 2] == agent.lane().time) << first;
    }
  }
}

TEST_F(SiteRun, TellsTheTimeOfTheLineInUse) {
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    Agent agent(armed);
    agent.place({firer({step(Kind::time), aggregation(1, SiteFunction::max, value_of(BuiltIn::timestamp))})});
    agent.fire({});
    for (const uint64_t number : {1, 2, 3}) {
      inside::ClockLine& line = agent.header().clock[number & 1];
      const uint64_t later = __rdtsc() + 50'000'000;
      line = inside::line_through(later, number * 1'000'000'000, uint64_t{3} << (inside::kRateBits - 1));
      agent.header().clock_number = inside::clock_number(number);
      const uint64_t before = inside::time_on(line, __rdtsc());
      agent.fire({});
      EXPECT_GE(agent.state_of_entry(), before);
      EXPECT_LE(agent.state_of_entry(), inside::time_on(line, __rdtsc()));
      EXPECT_EQ(agent.lane().time, agent.state_of_entry());
    }
    const uint64_t last = agent.lane().time;
    agent.header().clock[1].begin -= 2'000'000'000;  // before the last one
    agent.fire({});
    EXPECT_EQ(agent.lane().time, last);
  }
}

// The page of a forked process is empty. One that a signal handler has forked goes on in the midst of a firing.
TEST_F(SiteRun, LeavesTheLaneToTheParent) {
  Agent agent(inside::kAlone);
  agent.place({recording({}, 56)});
  agent.fire({});
  agent.fire({});
  const uint64_t head = agent.lane().head;
  agent.page().pid = 0;
  agent.fire({});
  EXPECT_EQ(agent.lane().turns, 5);
  EXPECT_EQ(agent.lane().head, head);
}

TEST_F(SiteRun, LeavesTheLaneToTheParentBehindASum) {
  Agent agent(inside::kAlone);
  agent.place({firer({aggregation(1, SiteFunction::sum, value_of(BuiltIn::arg0))})});
  for (int i = 0; i < 3; i++) agent.fire({});
  EXPECT_EQ(agent.lane().turns, 6);
  agent.page().pid = 0;
  agent.fire({});
  EXPECT_EQ(agent.lane().turns, 7);
}

// In which it would begin anew, if it were its own.
TEST_F(SiteRun, LeavesTheRingToTheParent) {
  constexpr uint64_t kBytes = 1 << 20;
  Agent agent(inside::kAlone, kBytes);
  agent.place({recording({}, 56)});
  agent.fire({});
  while (agent.lane().head < kBytes / 2) agent.fire({});
  const uint64_t head = agent.lane().tail = agent.lane().head;
  agent.page().pid = 0;
  agent.fire({});
  EXPECT_EQ(agent.lane().tail, head);
  EXPECT_EQ(agent.lane().head, head);
}

}  // namespace
}  // namespace dvm::runtime
