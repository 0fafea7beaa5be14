// The conformance cases, each run by two threads at once: they share the prepared object, and nothing that runs write.

#include <gtest/gtest.h>

#include "tests/conformance/run_case.h"
#include "tests/contexts/both.h"

namespace dvm::vm::test {
namespace {

TEST(Contexts, CasesHoldOnTwoThreadsAtOnce) {
  size_t ran = 0;
  for (const Dift& file : read_all_dift())
    for (const Case& c : file.cases)
      for (const CostPolicy policy : {CostPolicy::none, CostPolicy::blocks, CostPolicy::time}) {
        const PreparedCase prepared = prepare_case(c, kUsualEngine.prepare, policy);
        Outcome outcomes[2];
        on_both([&](size_t thread) { outcomes[thread] = run_prepared(prepared); });
        for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.problem, "") << file.path << ": " << c.name;
        ran++;
      }
  EXPECT_GT(ran, 500u);
}

}  // namespace
}  // namespace dvm::vm::test
