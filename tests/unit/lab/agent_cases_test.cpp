// Each row of an agent has a case that measures it.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "dvm/dif/action.h"
#include "lab/calibrate/live_cases.h"
#include "runtime/cost/rows.h"

namespace dvm::lab {

using namespace runtime;

namespace {

std::multiset<std::string> measured() {
  std::multiset<std::string> rows;
  for (const PairCase& one : agent_cases()) rows.insert(one.row.in(kInAgent).text());
  return rows;
}

TEST(AgentCases, EachRowOfTheTableHasOne) {
  const auto rows = measured();
  size_t own = 0;
  for (const Row row : price_rows()) {
    if (!row.folder().starts_with("agent/")) continue;
    EXPECT_EQ(rows.count(row.name()), 1U) << row.name();
    own++;
  }
  EXPECT_NE(own, 0U);
}

TEST(AgentCases, EachAggregatingFunctionHasOne) {
  const auto rows = measured();
  for (const dif::AggregationInfo& function : dif::kAggregations)
    EXPECT_EQ(rows.count("agent/aggregation/" + std::string(function.name)), 1U) << function.name;
}

// dvm unwinds copies of a stack as ever. Captures at events of the kernel and in recordings are none of an agent.
TEST(AgentCases, EachCaptureHasOneButThoseOfOthers) {
  const auto rows = measured();
  const std::set<std::string_view> others = {"kernel_stack", "unwind", "recorded", "command_line", "ancestors", "directory"};
  for (const std::string_view capture : kCaptures)
    EXPECT_EQ(rows.count("agent/capture/" + std::string(capture)), others.contains(capture) ? 0U : 1U) << capture;
}

TEST(AgentCases, OneWithASizeHasTwo) {
  for (const PairCase& one : agent_cases()) {
    ASSERT_TRUE(one.sizes[0]) << one.row.name();
    if (one.sizes[1]) {
      EXPECT_LE(one.sizes[0]->things, one.sizes[1]->things) << one.row.name();
    }
    EXPECT_GE(one.how.uses, 1) << one.row.name();
  }
}

}  // namespace
}  // namespace dvm::lab
