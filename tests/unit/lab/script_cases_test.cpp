// Scripts that price a row do what the row says, as a prediction sees it. The compiler may leave out what has no effect.

#include <gtest/gtest.h>

#include "dvm/compiler/compile.h"
#include "lab/calibrate/script_meter.h"
#include "runtime/cost/predict.h"

namespace dvm::lab {

using namespace runtime;

namespace {

// The price of this row alone in a firing of the script.
double clocks_of(Row row, const std::string& script, EngineId engine) {
  const compiler::Source source{"case.d", with_probe(script), false};
  const compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  if (compiled.programs.empty()) return -1;
  vm::Profile profile;
  profile.clock_hz = 1;
  profile.set(row.in({engine}), {1, 0, 0});
  return predicted_firing(compiled.programs[0].program, profile, {engine});
}

// With one use of the row for each that the case says, and none without it.
void expect_uses(Row row, EngineId engine) {
  size_t cases = 0;
  for (const ScriptCase& one : script_cases(engine)) {
    if (one.row != row) continue;
    cases++;
    EXPECT_EQ(clocks_of(row, one.with, engine) - clocks_of(row, one.without, engine), one.uses) << one.with;
  }
  EXPECT_EQ(cases, 1u) << row.name();
}

TEST(ScriptCases, PreparationIsDoneByOneOfTheScriptsOnly) {
  for (const Row row : {"prepare/dif"_row, "prepare/clause"_row}) {
    expect_uses(row, EngineId::interp);
    expect_uses(row, EngineId::llvm);
  }
  for (const Row row : {"prepare/ecb"_row, "prepare/body"_row}) expect_uses(row, EngineId::llvm);
}

TEST(ScriptCases, LookUpsAreAsManyAsTheirCaseSays) {
  for (const EngineId engine : {EngineId::interp, EngineId::llvm})
    for (const Row row : {"opcode/stts"_row, "variable/uid"_row}) expect_uses(row, engine);
}

}  // namespace
}  // namespace dvm::lab
