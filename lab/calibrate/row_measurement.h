#pragma once
// Which measurement a row of a profile has, whichever table of cases it stands in: calibration makes all of them, a benchmark
// one.
//
//   opcode variable subroutine           dif_cases.h
//   action aggregation record key prepare, consumer/record     script_cases.h
//   source                               live_meter.h, script_meter.h (replay)
//   action/raise, subroutine/copyout ... process_meter.h
//   consumer                             consumer_meter.h
//   account                              account_meter.h

#include <string>
#include <vector>

#include "lab/calibrate/dif_cases.h"
#include "lab/calibrate/script_meter.h"

namespace dvm::runtime {

// Every row that has one, once. Of a source the stages that are measured.
std::vector<std::string> measured_rows();

// The others, with the reason: rows of vm/dif's tables, and sources by name (source/fbt).
std::vector<Uncalibrated> unmeasured_rows();

// Measures one row by itself and sets it. Rows of scripts then hold what their DIF takes, too: what a profile says of it is not
// taken off.
Status measure_row(const std::string& row, const CompileScript& compile, vm::Profile& profile);

// The name of its benchmark with an engine: interp/opcode/add, interp/agg/count, source/uprobe/entry, consumer/copy.
std::string benchmark_name(const std::string& row, const std::string& engine);

}  // namespace dvm::runtime
