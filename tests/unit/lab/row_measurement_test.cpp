// Each row of a profile has a measurement, and so a benchmark, or a reason why not.

#include "lab/calibrate/row_measurement.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "runtime/cost/rows.h"

namespace dvm::runtime {
namespace {

// A source by its name: which of its stages are measured is its own affair.
std::string without_stage(const std::string& row) { return row.starts_with("source/") ? row.substr(0, row.rfind('/')) : row; }

TEST(RowMeasurement, EachRowHasOneOrAReason) {
  std::set<std::string> measured, others;
  for (const std::string& row : measured_rows()) measured.insert(without_stage(row));
  for (const Uncalibrated& one : unmeasured_rows()) {
    others.insert(one.row);
    EXPECT_FALSE(one.reason.empty()) << one.row;
    EXPECT_EQ(measured.count(one.row), 0u) << one.row;
  }
  std::set<std::string> rows;
  for (const std::string& row : price_rows()) rows.insert(without_stage(row));
  for (const std::string& row : rows) EXPECT_EQ(measured.count(row) + others.count(row), 1u) << row;
  for (const std::string& row : measured) EXPECT_EQ(rows.count(row), 1u) << row;
  for (const std::string& row : others) EXPECT_EQ(rows.count(row), 1u) << row;
}

TEST(RowMeasurement, BenchmarksHaveNamesOfTheirOwn) {
  std::map<std::string, std::string> names;
  for (const std::string& row : measured_rows()) {
    const auto [at, is_new] = names.emplace(benchmark_name(row, "interp"), row);
    EXPECT_TRUE(is_new) << row << " and " << at->second;
  }
  EXPECT_EQ(benchmark_name("opcode/add", "interp"), "interp/opcode/add");
  EXPECT_EQ(benchmark_name("subroutine/strlen", "interp"), "interp/subr/strlen");
  EXPECT_EQ(benchmark_name("aggregation/count", "interp"), "interp/agg/count");
  EXPECT_EQ(benchmark_name("source/pid_emulated/trigger", "interp"), "source/uprobe/entry");
  EXPECT_EQ(benchmark_name("source/replay/handler", "interp"), "source/replay/handler");
}

}  // namespace
}  // namespace dvm::runtime
