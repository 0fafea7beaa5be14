#pragma once
// What the sources of a live process cost, measured on a child of dvm that calls functions made for it: one whose first
// instruction the kernel emulates, one whose first instruction it steps over.
//
//   trigger   in the traced thread: CPU time of a call with the probe less that of one without
//   handler   in dvm: CPU time of a firing that counts, less what the profile says of its ECB

#include "runtime/cost/calibrate/script_meter.h"

namespace dvm::runtime {

struct LiveMeterOptions {
  unsigned samples = 7;     // with the probe, and as many without
  uint64_t calls = 20'000;  // a sample
};

// Adds source/pid, pid_emulated and pid_return to the profile. An error: no probe can be had here, and why.
Status measure_pid_sources(const CompileScript& compile, const LiveMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
