// Covered by tests/unit/lab/row_measurement_test.cpp.

#include <fmt/format.h>

#include "lab/calibrate/meter.h"

namespace dvm::lab {

using namespace runtime;

#define DVM_METER(name) extern const Meter name;
#include "lab/calibrate/meters.def"
#undef DVM_METER

std::span<const Meter* const> meters() {
#define DVM_METER(name) &name,
  static const Meter* const all[] = {
#include "lab/calibrate/meters.def"
  };
#undef DVM_METER
  return all;
}

std::vector<Row> measured_rows() {
  std::vector<Row> rows;
  for (const Meter* meter : meters())
    for (const Row row : meter->rows())
      if (!has_row(rows, row)) rows.push_back(row);
  return rows;
}

std::span<const Unmeasured> unmeasured_rows() {
  static constexpr Unmeasured kRows[] = {{"variable/dvm_out_of_bounds"_row, "reading it is a fault"},
                                         {"source/fbt/trigger"_row, "there are no probes in the kernel's functions"}};
  return kRows;
}

Status measure_row(Row row, const CompileScript& compile, vm::Profile& profile) {
  Bench bench{.compile = compile, .calls = 20'000};
  for (const Meter* meter : meters())
    if (has_row(meter->rows(), row)) return meter->measure(bench, row, profile);
  return Error{fmt::format("there is no measurement of {}", row.name())};
}

}  // namespace dvm::lab
