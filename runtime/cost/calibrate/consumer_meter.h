#pragma once
// What the consumer's steps cost but printing, which is measured as actions are: the stages of runs that leave nothing, many
// records or many keys.
//
//   status_snapshot                  asking for the drops
//   buffer_snapshot, copy            switching buffers: empty ones; a byte more
//   aggregation_snapshot, ..._build  taking one key; each further one
//   context_switch                   half of what it takes to sleep and to be woken

#include <string>
#include <vector>

#include "runtime/cost/calibrate/script_meter.h"

namespace dvm::runtime {

// The rows that it sets.
std::vector<std::string> consumer_rows();
Status measure_consumer(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
