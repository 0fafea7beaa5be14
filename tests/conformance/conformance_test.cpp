// Every case of every .dift file, on every engine, under every cost policy.

#include <gtest/gtest.h>

#include "tests/conformance/run_case.h"
#include "tests/support/engine.h"

namespace dvm::vm::test {

namespace {

constexpr CostPolicy kPolicies[] = {CostPolicy::none, CostPolicy::blocks, CostPolicy::time};

struct Parameter {
  Engine engine;
  Dift file;
};

void PrintTo(const Parameter& parameter, std::ostream* out) { *out << parameter.engine.name << ' ' << parameter.file.path; }

class Conformance : public testing::TestWithParam<Parameter> {};

TEST_P(Conformance, CasesHold) {
  const auto& [engine, file] = GetParam();
  ASSERT_EQ(file.error, "");
  DVM_SKIP_WITHOUT(engine);
  for (const Case& c : file.cases)
    for (const CostPolicy policy : kPolicies)
      EXPECT_EQ(run_case(c, engine.prepare, policy).problem, "") << c.name << ", policy " << static_cast<int>(policy);
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all;
  for (const Engine& engine : kEngines)
    for (const Dift& file : read_all_dift()) all.push_back({engine, file});
  return all;
}

std::string name_of(const testing::TestParamInfo<Parameter>& info) {
  std::string name = std::string(info.param.engine.name) + '_' + info.param.file.path;
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(parameters()), name_of);

}  // namespace

}  // namespace dvm::vm::test
