#pragma once
// What two CPUs that fire at the same time take from each other: the ring that their records go to has one lock and one place to
// write to. Two children call a function that is traced by one session, first one of them, then both.

#include <string>
#include <vector>

#include "lab/calibrate/script_meter.h"

namespace dvm::runtime {

std::vector<std::string> ring_rows();

// On a machine with one CPU nothing is taken. An error says why nothing can be traced here.
Status measure_ring(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
