#pragma once
// What the sources of live processes cost, measured on a child of dvm (looping_child.h): it calls functions with instructions of
// each kind, makes system calls, sends itself a signal, runs while timers fire.
//
//   trigger   in the traced thread: CPU time of a call with the probe less that of one without (profile: time that the loop takes
//             longer, by the firings in it)
//   handler   in dvm: CPU time of a firing that counts, less what the profile says of its ECB

#include <string>
#include <vector>

#include "runtime/cost/calibrate/script_meter.h"

namespace dvm::runtime {

struct LiveMeterOptions {
  unsigned samples = 7;     // with the probe, and as many without
  uint64_t calls = 20'000;  // a sample
};

// The names of what there is a measurement for, in its order.
std::vector<std::string> live_sources();

// Adds source/NAME to the profile. An error: no such probe can be had here, and why.
Status measure_source(const std::string& name, const CompileScript& compile, const LiveMeterOptions& options,
                      vm::Profile& profile);

}  // namespace dvm::runtime
