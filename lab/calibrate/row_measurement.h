#pragma once
// The meters together: which rows of a profile are measured, and one row by itself.

#include <string>
#include <vector>

#include "lab/calibrate/dif_cases.h"
#include "lab/calibrate/meter.h"

namespace dvm::runtime {

// Every row that has a meter, once. Of a source the stages that are measured.
std::vector<Row> measured_rows();

// The others, with the reason. Of a source one stage stands for all.
std::vector<Uncalibrated> unmeasured_rows();

// Measures one row by itself and sets it. Rows of scripts then include the cost of their DIF, which is not subtracted.
Status measure_row(Row row, const CompileScript& compile, vm::Profile& profile);

// The name of its benchmark with an engine: interp/opcode/add, interp/agg/count, source/uprobe/entry, consumer/copy.
std::string benchmark_name(Row row, const std::string& engine);

}  // namespace dvm::runtime
