// The walk that the verifier, the cost model and the capture analysis share, and the argument lists of the tables.
#include "dvm/dif/forward_flow.h"

#include <gtest/gtest.h>

#include <set>

#include "dvm/dif/subroutine.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::dif {
namespace {

// Collects the instructions that lie on paths to each instruction.
struct Paths {
  using State = std::set<size_t>;

  void step(State& state, Instruction, size_t pc) {
    before[pc] = state;
    state.insert(pc);
  }
  void join(State& into, const State& from, size_t pc) {
    joins.insert(pc);
    into.insert(from.begin(), from.end());
  }

  std::map<size_t, State> before;
  std::set<size_t> joins;
};

Paths walked(const Difo& difo) {
  Paths paths;
  flow_forward(difo, Paths::State{}, paths);
  return paths;
}

TEST(ForwardFlow, JoinsThePathsThatMeet) {
  const Paths paths = walked(test::assembled("tst %r0\nbe then\nnop\nba end\nthen: nop\nend: ret %r0\n"));
  EXPECT_EQ(paths.joins, std::set<size_t>({5}));
  EXPECT_EQ(paths.before.at(4), std::set<size_t>({0, 1}));
  EXPECT_EQ(paths.before.at(5), std::set<size_t>({0, 1, 2, 3, 4}));
}

TEST(ForwardFlow, VisitsNothingThatNoPathReaches) {
  const Paths paths = walked(test::assembled("ba end\nnop\nend: ret %r0\nnop\nret %r0\n"));
  EXPECT_FALSE(paths.before.contains(1));
  EXPECT_FALSE(paths.before.contains(3));
  EXPECT_EQ(paths.before.at(2), std::set<size_t>({0}));
}

TEST(ForwardFlow, IgnoresBranchesThatGoBackOrOutside) {
  Difo difo;
  difo.text = {Instruction::branch(Opcode::be, 0), Instruction::branch(Opcode::bne, 99), Instruction(0xffffffff)};
  const Paths paths = walked(difo);
  EXPECT_TRUE(paths.joins.empty());
  EXPECT_EQ(paths.before.at(2), std::set<size_t>({0, 1}));
}

// Knows whether the last comparison was equal.
struct Outcomes {
  void step(int& state, Instruction in, size_t pc) {
    if (!is_branch(in)) seen[pc] = state;
  }
  void join(int& into, const int& from, size_t) const { into += from; }
  void split(int& next, int& taken, Instruction, size_t) const { next = 10, taken = 20; }

  std::map<size_t, int> seen;
};

TEST(ForwardFlow, TellsWhetherAConditionalBranchIsTaken) {
  Outcomes outcomes;
  flow_forward(test::assembled("be then\nnop\nba end\nthen: nop\nend: ret %r0\n"), 1, outcomes);
  EXPECT_EQ(outcomes.seen.at(1), 10);
  EXPECT_EQ(outcomes.seen.at(3), 20);
  EXPECT_EQ(outcomes.seen.at(4), 30);
}

TEST(ArgumentList, IsParsedFromARow) {
  const ArgumentList& index = info(Subroutine::index).arguments;
  ASSERT_EQ(index.size(), 3u);
  EXPECT_EQ(index.required(), 2u);
  EXPECT_EQ(index[1].type, ArgumentType::string);
  EXPECT_EQ(index[2].type, ArgumentType::number);
  EXPECT_EQ(index[2].word, "int");
  EXPECT_TRUE(index[2].is_optional);
  EXPECT_EQ(info(Subroutine::rand).arguments.size(), 0u);
}

}  // namespace
}  // namespace dvm::dif
