#pragma once
// What a thread's first firing behind a rest takes more in it than when one follows another (rows.h). A child makes a few calls
// in each millisecond and sleeps, or makes them one after the other; the former take more even if nobody traces them, and that is
// taken off.

#include <string>
#include <vector>

#include "lab/calibrate/script_meter.h"

namespace dvm::runtime {

std::vector<std::string> rest_rows();

// An error says why nothing can be traced here.
Status measure_rests(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
