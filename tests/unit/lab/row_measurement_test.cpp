// Each row of a profile has a measurement, and so a benchmark, or a reason why not.

#include <gtest/gtest.h>

#include <set>

#include "lab/calibrate/meter.h"
#include "runtime/cost/rows.h"

namespace dvm::lab {

using namespace runtime;

namespace {

// A source by its name: which of its stages are measured is its own affair.
std::string without_stage(Row row) { return row.folder() == "source" ? "source/" + std::string(row.text().name) : row.name(); }

TEST(RowMeasurement, EachRowHasOneOrAReason) {
  std::set<std::string> measured, others;
  for (const Row row : measured_rows()) measured.insert(without_stage(row));
  for (const Unmeasured& one : unmeasured_rows()) {
    const std::string row = without_stage(one.row);
    others.insert(row);
    EXPECT_STRNE(one.reason, "") << row;
    EXPECT_EQ(measured.count(row), 0u) << row;
  }
  std::set<std::string> rows;
  for (const Row row : price_rows()) rows.insert(without_stage(row));
  for (const std::string& row : rows) EXPECT_EQ(measured.count(row) + others.count(row), 1u) << row;
  for (const std::string& row : measured) EXPECT_EQ(rows.count(row), 1u) << row;
  for (const std::string& row : others) EXPECT_EQ(rows.count(row), 1u) << row;
}

}  // namespace
}  // namespace dvm::lab
