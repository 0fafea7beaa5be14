#pragma once
// What the consumer's steps cost but printing, which is measured as actions are: the stages of runs that leave nothing, many
// records or many keys.
//
//   status_snapshot                  asking for the drops
//   buffer_snapshot, copy            switching buffers: empty ones; a byte more
//   aggregation_snapshot, ..._build  taking one key; each further one
//   context_switch                   half of what it takes to sleep and to be woken
//   look, look_shared, late          waking up to look for firings

#include <string>
#include <vector>

#include "lab/calibrate/script_meter.h"

namespace dvm::runtime {

// The rows that it sets.
std::vector<std::string> consumer_rows();
Status measure_consumer(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

// Looks for firings of a live process, without what a firing takes: the profile should have source/pid_emulated/handler by then.
std::vector<std::string> look_rows();
void measure_looks(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
