// Every opcode, every supported subroutine and every variable with a getter has a .dift file of its name, with a case that
// executes it, or one that the verifier rejects if no verified DIFO may hold it.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/run_case.h"

namespace dvm::vm::test {

namespace {

bool executes(const Case& c, const std::string& row) {
  if (!c.rejected.empty()) return c.dif.find(row) != std::string::npos;
  const Counts counts = run_case(c, kUsualEngine.prepare, CostPolicy::blocks).counts;
  const Tally* tally = find_tally(counts, row);
  return tally && tally->count > 0;
}

void expect_covered(const std::string& folder, std::string_view row) {
  static const std::vector<Dift> files = read_all_dift();
  const std::string path = folder + '/' + std::string(row) + ".dift";
  const auto file = std::find_if(files.begin(), files.end(), [&](const Dift& f) { return f.path == path; });
  if (file == files.end()) {
    ADD_FAILURE() << "no " << path;
    return;
  }
  const bool covered =
      std::any_of(file->cases.begin(), file->cases.end(), [&](const Case& c) { return executes(c, std::string(row)); });
  EXPECT_TRUE(covered) << path << " never executes " << row;
}

TEST(Coverage, EveryOpcodeHasACase) {
  for (const dif::OpcodeInfo& row : dif::kOpcodes) expect_covered("op", row.mnemonic);
}

TEST(Coverage, EverySubroutineHasACase) {
  for (const dif::SubroutineInfo& row : dif::kSubroutines)
    if (row.unsupported.empty()) expect_covered("subr", row.name);
}

TEST(Coverage, EveryVariableHasACase) {
  for (const dif::BuiltInInfo& row : dif::kBuiltIns)
    if (row.family != dif::VariableFamily::none) expect_covered("variable", row.name);
}

}  // namespace

}  // namespace dvm::vm::test
