// Firings of a stub of which a value cannot be computed, or that end the run: by the code of the site as by agent_enter.

#include <gtest/gtest.h>

#include <random>

#include "placed_stub.h"
#include "runtime/agent/site_ability.h"

namespace dvm::runtime {
namespace {

// arg0 / (arg1 & 3)
MachineCode quotient() {
  return code_of({load(BuiltIn::arg1, 1), Instruction::indexed(Opcode::setx, 0, 2), op(Opcode::and_, 1, 2, 1),
                  load(BuiltIn::arg0, 2), op(Opcode::sdiv, 2, 1, 3), op(Opcode::ret, 0, 0, 3)},
                 3);
}

// arg0 / (arg1 & 3) == 3
MachineCode is_quotient_three() {
  const auto set = [](unsigned index, unsigned rd) { return Instruction::indexed(Opcode::setx, index, rd); };
  const std::vector<Instruction> text = {load(BuiltIn::arg1, 1),
                                         set(0, 2),
                                         op(Opcode::and_, 1, 2, 1),
                                         load(BuiltIn::arg0, 2),
                                         op(Opcode::sdiv, 2, 1, 3),
                                         set(0, 4),
                                         op(Opcode::cmp, 3, 4, 0),
                                         set(1, 5),
                                         Instruction::branch(Opcode::be, 10),
                                         op(Opcode::mov, 0, 0, 5),
                                         op(Opcode::ret, 0, 0, 5)};
  return make_value_code({text, {3, 1}, "", {}, kWord}, kWord, {SiteKind::entry, {}, 1}).code;
}

class SiteFails : public PlacedStubTest {
 protected:
  void compare(const std::vector<AgentFirer>& firers) {
    Agent here(inside::kAlone), there(inside::kShared);
    here.place(firers), there.place(firers);
    uint64_t failed = 0;
    for (int i = 0; i < 500; i++) {
      Registers registers = some_registers(random_);
      registers.words[saved::rdi] %= 50;
      failed += (registers.words[saved::rsi] & 3) == 0;
      here.fire(registers), there.fire(registers);
    }
    EXPECT_EQ(here.lane().head, failed * 24);  // a record each: its head, and a word
    EXPECT_EQ(there.lane().head, failed * 24);
    EXPECT_EQ(here.lane().turns % 2, 0);
    EXPECT_TRUE(here.arena() == there.arena());
  }

  std::mt19937_64 random_{12};
};

TEST_F(SiteFails, LeaveTheClausesToDvm) {
  const auto sum = [](std::vector<AgentKey> keys) { return aggregation(3, SiteFunction::sum, quotient(), std::move(keys)); };
  compare({firer({sum({})})});
  compare({firer({sum({integer(masked(BuiltIn::arg0, 7))})})});
  compare({firer({aggregation(3, SiteFunction::count, {}, {integer(quotient())})})});
  compare({firer({step(Kind::predicate, quotient(), 1), aggregation(1, SiteFunction::count, {})})});
  EXPECT_NE(is_quotient_three().truth.condition, 0);
  compare({firer({step(Kind::predicate, is_quotient_three(), 1), aggregation(1, SiteFunction::count, {})})});
  compare({firer({step(Kind::evaluate, quotient()), aggregation(9, SiteFunction::quantize, value_of(BuiltIn::arg0))})});
  compare({firer({sum({stack(2, 0)})})});
}

// One that does not fail is no matter of agent_enter, whatever the stack held before.
TEST_F(SiteFails, RunByTheCodeOfTheSiteOtherwise) {
  Agent agent(inside::kAlone);
  agent.place({firer({aggregation(3, SiteFunction::sum, quotient(), {integer(masked(BuiltIn::arg0, 7))})})});
  Registers registers{};
  registers.words[saved::rdi] = 6, registers.words[saved::rsi] = 2;
  for (int i = 0; i < 5; i++) {
    if (i == 2) agent.forbid_inside_code();
    agent.fire(registers);
  }
  EXPECT_EQ(agent.firings(), 5);
}

// A record of the clause has its head, the address and a word.
TEST_F(SiteFails, LeadToTheRecordOfTheirClause) {
  AgentStep record = step(Kind::fault_record);
  record.record.program = firer({}).program;
  record.record.record.number = 7, record.record.record.programs.cookie = 1;
  record.record.record.values[record.record.record.count++] = inside::kUnreadableValue;
  AgentStep sum = aggregation(3, SiteFunction::sum, quotient(), {integer(masked(BuiltIn::arg0, 7))});
  sum.step.skip = 2;
  const AgentStep behind = aggregation(1, SiteFunction::count, {}), before = aggregation(2, SiteFunction::count, {});
  for (const bool is_effect_before : {false, true}) {
    std::vector<AgentStep> steps{sum, behind, record, aggregation(4, SiteFunction::count, {})};
    if (is_effect_before) steps.insert(steps.begin(), before);
    const std::vector<AgentFirer> firers{firer(std::move(steps))};
    EXPECT_EQ(can_run_all(firers), !is_effect_before);
    for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
      Agent agent(armed);
      agent.place(firers);
      for (uint64_t i = 0; i < 12; i++) {
        Registers registers{};
        registers.words[saved::rsi] = i;  // 0, 4 and 8 fail
        agent.fire(registers);
      }
      EXPECT_EQ(agent.count_of(1), 9U);
      EXPECT_EQ(agent.count_of(2), is_effect_before ? 12U : 0U);
      EXPECT_EQ(agent.count_of(4), 12U);
      const std::vector<uint64_t> ring = agent.ring();
      const size_t length = sizeof(inside::RecordHead) + ring.front();
      EXPECT_EQ(agent.lane().head, 3 * length);
      EXPECT_EQ(static_cast<uint32_t>(ring[2]), 7U);
      EXPECT_EQ(ring[3], 0U);
      EXPECT_EQ(agent.lane().turns % 2, 0U);
    }
  }
}

TEST_F(SiteFails, NothingFiresBehindTheEndOfTheRun) {
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    AgentStep record = step(Kind::clause_record);
    record.record.program = firer({}).program;
    record.record.record.number = 7, record.record.record.programs.cookie = 1, record.record.record.ends_run = 1;
    std::vector<AgentFirer> firers = {
        firer({aggregation(0, SiteFunction::count, {}), step(Kind::predicate, masked(BuiltIn::arg0, 1), 1), record,
               aggregation(1, SiteFunction::count, {})}),
        firer({aggregation(2, SiteFunction::count, {})})};
    for (AgentFirer& one : firers) one.has_variables = true;
    Agent agent(armed);
    agent.header().variables = inside::VariablesIn::thread;
    agent.place(firers);
    for (const uint64_t arg0 : {2, 4, 6, 7, 8, 9}) {
      Registers registers{};
      registers.words[saved::rdi] = arg0;
      agent.fire(registers);
    }
    EXPECT_EQ(agent.count_of(0), 4U);
    EXPECT_EQ(agent.count_of(1), 3U);
    EXPECT_EQ(agent.count_of(2), 3U);
    EXPECT_EQ(agent.header().variables, inside::VariablesIn::nowhere);
    EXPECT_EQ(agent.page().variables, inside::VariablesIn::nowhere);
    EXPECT_EQ(agent.lane().turns % 2, 0);
  }
}

}  // namespace
}  // namespace dvm::runtime
