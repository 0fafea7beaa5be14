// Firings that do not take the lane of their thread: what they do is one instruction, so that a signal handler may come in
// between anywhere.

#include <gtest/gtest.h>
#include <x86intrin.h>

#include <csignal>

#include "placed_stub.h"
#include "runtime/agent/inside/time.h"
#include "runtime/agent/site_ability.h"

namespace dvm::runtime {
namespace {

AgentFirer assignment(std::vector<AgentStep> steps) {
  AgentFirer made = firer(std::move(steps));
  made.has_variables = 1;
  return made;
}
uint64_t variable_of(Agent& agent) {
  uint64_t value = 0;
  std::memcpy(&value, agent.variables().data() + agent.lane_number() * sizeof(inside::ThreadVariables), sizeof value);
  return value;
}

TEST(SiteFree, OnlyWhatIsOneAssignment) {
  const auto only_assigns = [](std::vector<AgentStep> steps) {
    const AgentFirer one = assignment(std::move(steps));
    return runtime::only_assigns({&one, 1});
  };
  const auto store = step(Kind::evaluate, assigns(BuiltIn::arg1));
  const auto gate = step(Kind::predicate, masked(BuiltIn::arg0, 1), 1);
  EXPECT_TRUE(only_assigns({store}));
  EXPECT_TRUE(only_assigns({gate, store}));
  EXPECT_TRUE(only_assigns({step(Kind::time), step(Kind::evaluate, assigns(BuiltIn::timestamp))}));
  EXPECT_FALSE(only_assigns({store, store}));
  EXPECT_FALSE(only_assigns({gate, store, gate, store}));
  EXPECT_FALSE(only_assigns({step(Kind::predicate, masked(BuiltIn::tid, 1), 1), store}));
  EXPECT_FALSE(only_assigns({step(Kind::evaluate, adds_to(dif::Scope::thread))}));
  EXPECT_FALSE(only_assigns({step(Kind::evaluate, value_of(BuiltIn::arg1))}));
  EXPECT_FALSE(only_assigns({store, aggregation(1, SiteFunction::count, {})}));
  AgentStep fails = store;
  fails.code.may_fail = true;
  EXPECT_FALSE(only_assigns({fails}));
  EXPECT_FALSE(only_assigns({}));
}

TEST(SiteFree, CountsUntilTheRunHasEnded) {
  Agent agent(inside::kAlone);
  agent.header().variables = inside::VariablesIn::thread;
  agent.place({assignment({aggregation(1, SiteFunction::count, {})})});
  for (int i = 0; i < 3; i++) agent.fire({});
  agent.header().variables = agent.page().variables = inside::VariablesIn::nowhere;
  agent.fire({});
  EXPECT_EQ(agent.count_of(1), 3U);
}

TEST(SiteFree, AssignsUnlessAnotherFiringHasTheLane) {
  Agent agent(inside::kAlone);
  agent.place({assignment({step(Kind::predicate, masked(BuiltIn::arg0, 1), 1), step(Kind::evaluate, assigns(BuiltIn::arg1))})});
  Registers registers;
  registers.words[saved::rdi] = 1;
  for (const uint64_t value : {5, 6, 7}) {
    registers.words[saved::rsi] = value;
    agent.fire(registers);
    EXPECT_EQ(variable_of(agent), value);
    EXPECT_EQ(agent.lane().turns, 2);  // the first one has taken it
  }
  registers.words[saved::rsi] = 8;
  registers.words[saved::rdi] = 2;
  agent.fire(registers);
  registers.words[saved::rdi] = 1;
  agent.lane().turns = 3;
  agent.fire(registers);
  EXPECT_EQ(variable_of(agent), 7);
  EXPECT_EQ(agent.lane().nested, 1);
}

constexpr uint64_t kLater = 1'000'000'000'000;
int steps_left = 0;
uint64_t* raised = nullptr;

// A handler that fires raises the last time of the thread. Only behind the comparison with it that is lost, and no time is before
// the one that was compared.
TEST(SiteFree, TellsNoTimeBeforeTheLastOne) {
  Agent agent(inside::kAlone);
  const inside::ClockLine line = inside::line_through(__rdtsc(), 1'000'000, uint64_t{1} << (inside::kRateBits - 1));
  agent.header().clock[0] = line;
  agent.place({assignment({step(Kind::time), step(Kind::evaluate, assigns(BuiltIn::timestamp))})});
  agent.fire({});
  raised = &agent.lane().time;
  struct sigaction raise {
  }, before{};
  raise.sa_handler = [](int) {
    if (--steps_left == 0) *raised += kLater;
  };
  sigaction(SIGTRAP, &raise, &before);
  int raises = 0, lost = 0;
  for (int steps = 1; steps < 120; steps++) {
    steps_left = steps;
    const uint64_t last = *raised = inside::time_on(line, __rdtsc());
    asm volatile(
        "sub $256, %%rsp; pushfq; orq $0x100, (%%rsp); popfq\n"
        "call *%0\n"
        "pushfq; andq $~0x100, (%%rsp); popfq; add $256, %%rsp"
        :
        : "r"(agent.stub())
        : "memory", "cc");
    EXPECT_GE(*raised, last) << steps;
    EXPECT_GE(variable_of(agent), last);
    raises += steps_left <= 0;
    lost += steps_left <= 0 && *raised < last + kLater;
  }
  EXPECT_GE(raises, 30);
  EXPECT_LE(lost, 2);  // in front of the jump and of the store
  sigaction(SIGTRAP, &before, nullptr);
  EXPECT_EQ(agent.lane().turns, 2);
}

}  // namespace
}  // namespace dvm::runtime
