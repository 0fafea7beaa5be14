#pragma once
// What the sources of live processes cost, measured on a child of dvm (looping_child.h): it calls functions with instructions of
// each kind, makes system calls, sends itself a signal, runs while timers fire. In points of a firing, as the paper has them:
//
//   A to F in the traced thread     CPU time of a call with the probe less that of one without (profile: the usual time that an
//                                   interrupt takes from a loop)
//   trigger  A to B                 the firing's time less the one that the child read just before: its argument
//   capture  B to C                 less what a call takes whose firings are counted by the kernel alone
//   resume   E to F                 the rest
//   handler  C to D, in dvm         CPU time of a firing that counts, less what the profile says of its ECB
//
// A call that can hand over no time has no resume: trigger holds both.

#include <string>
#include <vector>

#include "lab/calibrate/live_run.h"

namespace dvm::runtime {

// The names of what there is a measurement for, in its order: timers last, since what dvm takes for one of their few firings is
// mostly a look, which must have a price by then.
std::vector<std::string> live_sources();
bool is_timer_source(const std::string& source);
// The rows that measuring it sets.
std::vector<std::string> live_rows(const std::string& source);

// Adds source/NAME to the profile. An error: no such probe can be had here, and why.
Status measure_source(const std::string& name, const CompileScript& compile, const LiveMeterOptions& options,
                      vm::Profile& profile);

}  // namespace dvm::runtime
