#pragma once
// What is found in no cache: the rows of tables.h, and records behind a rest. Made-up firings are replayed to scripts that differ
// by their keys. Each is run twice, without a rest and with one before each batch of firings, as long as those of dvm between two
// looks: what a script takes more behind a rest, less what one takes that keeps nothing, is what it waits for.

#include <string>
#include <vector>

#include "lab/calibrate/script_meter.h"

namespace dvm::runtime {

std::vector<std::string> table_rows();

// Sets their prices.
Status measure_tables(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
