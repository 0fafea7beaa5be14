// Random DIFOs and clauses have every row of the tables that verified DIF and plans can have: a row that is never made is never
// compared between the engines.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/fuzz/random_clause.h"

namespace dvm::fuzz {
namespace {

struct Made {
  std::set<std::string_view> opcodes, subroutines, variables, actions;
  size_t count = 0;  // of DIFOs

  void add(const dif::Difo& difo) {
    for (const dif::Instruction in : difo.text) {
      const dif::OpcodeInfo& row = info(in.opcode());
      opcodes.insert(row.mnemonic);
      if (row.format == dif::Format::call) subroutines.insert(dif::kSubroutines[in.index()].name);
      if (const auto id = dif::built_in_of(in))
        for (const dif::BuiltInInfo& known : dif::kBuiltIns)
          if (static_cast<unsigned>(known.id) == *id) variables.insert(known.name);
    }
  }
  void add_verified(const dif::Difo& difo) {
    if (std::holds_alternative<vm::VerifiedDifo>(vm::verify(difo))) add(difo), count++;
  }
  void add(const dif::ActDesc& action) {
    if (const dif::ActionInfo* row = dif::find_action(action.kind)) actions.insert(row->name);
    if (const dif::AggregationInfo* row = dif::find_aggregation(action.kind)) actions.insert(row->name);
    for (const dif::RecDesc& arg : action.args) add(arg.difo);
  }
};

TEST(RandomDifos, HaveEveryOpcodeSubroutineAndVariableThatDifMayHave) {
  Made possible, made;
  for (const dif::Difo& difo : conformance_difos()) possible.add_verified(difo);
  Maker maker(5);
  for (int i = 0; i < 20000; i++) made.add_verified(maker.likely_difo());
  EXPECT_GT(made.count, 2000u);
  EXPECT_GT(possible.opcodes.size(), 70u);
  EXPECT_EQ(made.opcodes, possible.opcodes);
  EXPECT_EQ(made.subroutines, possible.subroutines);
  EXPECT_EQ(made.variables, possible.variables);
}

TEST(RandomClauses, HaveEveryActionThatDvmSupports) {
  Made made;
  ClauseMaker maker(7);
  for (int i = 0; i < 2000; i++)
    for (const dif::ActDesc& action : maker.clause().actions) made.add(action);
  for (const dif::ActionInfo& row : dif::kActions)
    EXPECT_EQ(made.actions.contains(row.name), row.unsupported.empty()) << row.name;
  for (const dif::AggregationInfo& row : dif::kAggregations) EXPECT_TRUE(made.actions.contains(row.name)) << row.name;
}

}  // namespace
}  // namespace dvm::fuzz
