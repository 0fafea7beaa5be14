// The time of a firing in the code of a site: in the workspace, or passed to the code that reads it.

#include "runtime/agent/site_needs.h"
#include "site_run.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kNow = 5'000'000'000;
const auto kVariable = static_cast<unsigned>(dif::kFirstUserVariable);

MachineCode of_time(Opcode opcode) {
  return code_of({load(BuiltIn::timestamp, 1), Instruction::indexed(Opcode::ldts, kVariable, 2), op(opcode, 1, 2, 3),
                  op(Opcode::ret, 0, 0, 3)});
}
// A shift, which needs %rcx.
MachineCode shifts() {
  return code_of({load(BuiltIn::arg0, 1), load(BuiltIn::arg1, 2), op(Opcode::sll, 1, 2, 3),
                  Instruction::indexed(Opcode::stts, kVariable, 3), op(Opcode::ret, 0, 0, 3)});
}
// Whether the time is later than the variable says.
MachineCode is_later() {
  return code_of({load(BuiltIn::timestamp, 1), Instruction::indexed(Opcode::ldts, kVariable, 2), op(Opcode::cmp, 1, 2, 0),
                  Instruction::indexed(Opcode::setx, 0, 3), Instruction::branch(Opcode::bgu, 6), op(Opcode::mov, 0, 0, 3),
                  op(Opcode::ret, 0, 0, 3)},
                 1);
}
MachineCode clears() {
  return code_of({Instruction::indexed(Opcode::stts, kVariable, 0), op(Opcode::mov, 0, 0, 1), op(Opcode::ret, 0, 0, 1)});
}
AgentFirer with_variables(std::vector<AgentStep> steps) {
  AgentFirer made = firer(std::move(steps));
  made.has_variables = 1;
  return made;
}
AgentStep sum_of(uint32_t number, MachineCode value) { return aggregation(number, SiteFunction::sum, std::move(value)); }

class SiteTime : public PlacedStubTest {
 protected:
  // The clock stands still. The last time of the thread is `last`.
  static void compare(const std::vector<AgentFirer>& firers, uint64_t last) {
    Agent here(inside::kAlone), there(inside::kShared);
    for (Agent* one : {&here, &there}) {
      one->header().clock[0] = {0, kNow};
      one->place(firers);
      one->fire({});
      one->lane().time = last;
      for (uint64_t i = 0; i < 50; i++) {
        Registers registers;
        registers.words[saved::rdi] = i % 3, registers.words[saved::rsi] = i % 70;
        one->fire(registers);
      }
      EXPECT_EQ(one->lane().time, std::max(last, kNow));
      EXPECT_EQ(one->lane().nested, 0);
    }
    EXPECT_TRUE(here.arena() == there.arena());
    EXPECT_TRUE(here.variables() == there.variables());
  }
};

TEST_F(SiteTime, IsThatOfAgentEnterHoweverTheCodeGetsIt) {
  const AgentStep time = step(Kind::time), max = aggregation(1, SiteFunction::max, value_of(BuiltIn::timestamp)),
                  store = step(Kind::evaluate, assigns(BuiltIn::timestamp)), clear = step(Kind::evaluate, clears());
  const auto since = [](uint32_t number) { return sum_of(number, of_time(Opcode::sub)); };
  const AgentStep by_key = aggregation(3, SiteFunction::sum, of_time(Opcode::sub), {integer(masked(BuiltIn::arg0, 1))});
  const AgentStep if_one = step(Kind::predicate, masked(BuiltIn::arg0, 1), 2);
  const AgentStep if_odd = step(Kind::predicate, of_time(Opcode::and_), 1);
  const std::vector<std::vector<AgentStep>> all = {
      {time, store},
      {time, max},
      {time, since(1), clear},
      {time, store, since(1)},
      {time, since(1), store, since(2)},
      {time, if_odd, sum_of(1, value_of(BuiltIn::arg1)), step(Kind::evaluate, assigns(BuiltIn::arg1))},
      {time, step(Kind::predicate, is_later(), 1), sum_of(1, value_of(BuiltIn::arg1)), step(Kind::evaluate, shifts())},
      {time, by_key, clear},
      {step(Kind::evaluate, shifts()), time, since(1)},
      {if_one, time, since(1), step(Kind::evaluate, assigns(BuiltIn::arg1))},
      {if_one, step(Kind::evaluate, shifts()), sum_of(1, value_of(BuiltIn::arg0)), time, since(2)},
      {sum_of(1, value_of(BuiltIn::arg1)), time, since(2), store},
  };
  for (const uint64_t last : {uint64_t{0}, kNow + 1000})
    for (const std::vector<AgentStep>& steps : all) {
      SCOPED_TRACE(&steps - all.data());
      compare({with_variables(steps)}, last);
      compare({with_variables({step(Kind::evaluate, shifts())}), with_variables(steps)}, last);
    }
}

TEST_F(SiteTime, IsPassedToTheOnlyCodeThatReadsIt) {
  const AgentStep time = step(Kind::time), store = step(Kind::evaluate, assigns(BuiltIn::timestamp));
  const auto passes = [](std::vector<AgentStep> steps) { return passes_time(with_variables(std::move(steps)), 0); };
  EXPECT_TRUE(passes({time, store}));
  EXPECT_TRUE(passes({time, sum_of(1, of_time(Opcode::sub))}));
  EXPECT_TRUE(passes({time, step(Kind::predicate, of_time(Opcode::sub)), sum_of(1, value_of(BuiltIn::arg0))}));
  EXPECT_TRUE(passes({time, step(Kind::predicate, is_later()), sum_of(1, value_of(BuiltIn::arg0))}));
  EXPECT_FALSE(passes({time}));
  EXPECT_FALSE(passes({store, time}));
  EXPECT_FALSE(passes({time, store, store}));
  EXPECT_FALSE(passes({time, step(Kind::evaluate, assigns(BuiltIn::arg0)), store}));
  EXPECT_FALSE(passes({time, aggregation(1, SiteFunction::sum, of_time(Opcode::sub), {integer(value_of(BuiltIn::arg0))})}));
  EXPECT_FALSE(passes({time, store, aggregation(1, SiteFunction::count, {}, {integer(value_of(BuiltIn::timestamp))})}));
  EXPECT_FALSE(passes({time, store, step(Kind::record)}));
}

}  // namespace
}  // namespace dvm::runtime
