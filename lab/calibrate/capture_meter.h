#pragma once
// What capturing takes (captures.def), and the action ustack(): scripts on the looping child that need one thing more than one
// that only counts. What the profile says of the rest of their difference is taken off; what is priced by size is measured with
// two.

#include <string>
#include <vector>

#include "lab/calibrate/live_run.h"

namespace dvm::runtime {

// The rows that it sets, in the order in which they need each other.
std::vector<std::string> capture_rows();

// Of all of them, or only of the one.
Status measure_captures(const CompileScript& compile, const LiveMeterOptions& options, vm::Profile& profile,
                        const std::string& only = {});

}  // namespace dvm::runtime
