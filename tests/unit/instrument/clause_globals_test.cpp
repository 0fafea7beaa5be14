// Machine code for the traced thread that reads and changes global variables.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include "clause_code_run.h"
#include "dvm/dif/variable.h"
#include "runtime/instrument/agent/global_code.h"

namespace dvm::runtime {
namespace {

// n = n + arg0
dif::Difo sum_of(unsigned id) {
  dif::Difo difo{{Instruction::indexed(Opcode::ldgs, id, 1), load(BuiltIn::arg0, 2), op(Opcode::add, 1, 2, 1),
                  Instruction::indexed(Opcode::stgs, id, 1), op(Opcode::ret, 0, 0, 1)},
                 {},
                 "",
                 {},
                 kWord};
  difo.variables.push_back({"n", static_cast<uint16_t>(id), dif::Scope::global, dif::VariableKind::scalar, true, true, kWord});
  return difo;
}

TEST(ClauseCode, AddsToGlobalsInSeveralThreads) {
  constexpr std::array<uint16_t, 1> kKept = {dif::kFirstUserVariable + 2};
  MachineCode code = make_value_code(sum_of(kKept[0]), kWord, {SiteKind::entry, {}, kPid, nullptr, false, false, {}, kKept}).code;
  ASSERT_FALSE(code.empty());
  EXPECT_TRUE(code.has_workspace);  // so it is no gate
  EXPECT_EQ(code.global_stores, 1U);
  inside::Globals globals;
  globals.values[2] = 1000;
  code.place_globals(reinterpret_cast<uint64_t>(&globals));
  const Code runs(code.bytes);
  const auto add = [&] {
    std::array<uint64_t, inside::kSavedWords> saved{};
    saved[saved::rdi] = 3;
    for (int i = 0; i < 300000; i++) runs.run(saved);
  };
  std::thread other(add);
  const std::atomic_ref of_dvm(globals.values[2]);
  for (int i = 0; i < 100000; i++) of_dvm.store(of_dvm.load() - 5);  // dvm changes its word meanwhile
  add();
  other.join();
  EXPECT_EQ(globals.values[2], 1000 - uint64_t{500000});
  EXPECT_EQ(globals.changes[2], 1800000U);
}

TEST(ClauseCode, ReadsAGlobalOnceForSeveralSteps) {
  constexpr std::array<uint16_t, 1> kKept = {dif::kFirstUserVariable + 2};
  const SiteShape shape = SiteKind::entry;
  ClausePlace place{shape, {}, kPid};
  place.kept = kKept, place.seen = kKept[0];
  dif::Difo difo = of_variable(static_cast<BuiltIn>(kKept[0]));
  difo.variables = sum_of(kKept[0]).variables;
  difo.variables[0].type = {dif::TypeKind::integer, true, false, 1, "char"};
  inside::Globals globals;
  globals.values[2] = 200, globals.changes[2] = 55;
  MachineCode see = make_see_code(difo.variables[0], place, {.is_read = true});
  see.place_globals(reinterpret_cast<uint64_t>(&globals));
  inside::Workspace workspace = workspace_with(nullptr);
  Code(see.bytes).run({}, workspace);
  globals.changes[2] = 0;
  EXPECT_EQ(workspace.time, 0U);  // is read again
  EXPECT_EQ(Code(make_value_code(difo, kWord, place).code.bytes).run({}, workspace), ~uint64_t{0});
  workspace.seen = 5, place.is_earlier = true;
  EXPECT_EQ(Code(make_value_code(difo, kWord, place).code.bytes).run({}, workspace), ~uint64_t{0});
}

// n < arg0
dif::Difo is_below(unsigned id) {
  dif::Difo difo = sum_of(id);
  difo.text = {Instruction::indexed(Opcode::ldgs, id, 1),
               load(BuiltIn::arg0, 2),
               op(Opcode::cmp, 1, 2, 0),
               Instruction::indexed(Opcode::setx, 0, 3),
               Instruction::branch(Opcode::bl, 6),
               op(Opcode::mov, 0, 0, 3),
               op(Opcode::ret, 0, 0, 3)};
  difo.integers = {1};
  return difo;
}

// Code of the steps `see` and predicate, with `retry` behind them.
class ConditionalChange {
 public:
  ConditionalChange(const dif::Difo* condition, const dif::Difo& change, inside::Globals& globals) {
    const auto made = [&](const dif::Difo& difo) { return make_value_code(difo, kWord, place_).code; };
    place_.kept = kKept, place_.seen = kKept[0];
    MachineCode see = make_see_code(change.variables[0], place_, {});
    MachineCode all = make_change_code(condition != nullptr ? made(*condition) : MachineCode(), made(change));
    for (MachineCode* one : {&see, &all}) one->place_globals(reinterpret_cast<uint64_t>(&globals));
    see_.emplace(see.bytes), change_.emplace(all.bytes);
  }
  uint64_t run(uint64_t argument, inside::Workspace& workspace) const {
    std::array<uint64_t, inside::kSavedWords> saved{};
    saved[saved::rdi] = argument;
    uint64_t value = 0;
    do {
      see_->run(saved, workspace);
      value = change_->run(saved, workspace);
      EXPECT_TRUE(value != 0 || workspace.again == 0);  // it is no false predicate
    } while (workspace.again != 0);
    return value;
  }

  static constexpr std::array<uint16_t, 1> kKept = {dif::kFirstUserVariable + 2};

 private:
  SiteShape shape_ = SiteKind::entry;
  ClausePlace place_{shape_, {}, kPid};
  std::optional<Code> see_, change_;
};

TEST(ClauseCode, ChangesAGlobalAsLongAsAConditionHolds) {
  constexpr unsigned kId = ConditionalChange::kKept[0];
  dif::Difo increment = sum_of(kId);
  increment.text[1] = Instruction::indexed(Opcode::setx, 0, 2), increment.integers = {1};
  const dif::Difo condition = is_below(kId);
  inside::Globals globals;
  globals.values[2] = 1000;
  const ConditionalChange code(&condition, increment, globals);
  std::atomic<uint64_t> held = 0;
  const auto fire = [&] {
    inside::Workspace workspace = workspace_with(nullptr);
    for (int i = 0; i < 300000; i++) {
      if (code.run(401000, workspace) == 0) continue;
      held++;
      ASSERT_EQ(workspace.seen, workspace.earlier + 1);
      ASSERT_LE(workspace.seen, 401000U);
    }
  };
  std::thread other(fire);
  fire();
  other.join();
  EXPECT_EQ(held, 400000U);
  EXPECT_EQ(globals.changes[2], 400000U);
  EXPECT_EQ(globals.values[2], 1000U);
}

TEST(ClauseCode, TellsAChangeThatFailedFromAFalsePredicate) {
  const dif::Difo sum = sum_of(ConditionalChange::kKept[0]);
  inside::Globals globals;
  const ConditionalChange code(nullptr, sum, globals);
  std::atomic<uint64_t> zeros = 0;
  const auto fire = [&](uint64_t argument) {
    inside::Workspace workspace = workspace_with(nullptr);
    for (int i = 0; i < 200000; i++) zeros += code.run(argument, workspace) == 0;
  };
  std::thread other(fire, 1);
  fire(~uint64_t{0});
  other.join();
  EXPECT_EQ(globals.changes[2], 0U);
}

}  // namespace
}  // namespace dvm::runtime
