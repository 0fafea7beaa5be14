#pragma once
// How much of a principal buffer a script's records take: as a run would lay them out, with room for the longest strings and all
// frames of a stack.

#include <span>

#include "common/result.h"
#include "dvm/dif/option.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {

struct RecordRoom {
  double firing = 0;  // bytes of a firing as frequent as options.rates says
  double end = 0;     // of what END may record, which is set apart in a buffer of policy fill
};

// run: the options of the run. The error is the one that it would end with.
Result<RecordRoom> record_room(std::span<const dif::Program* const> programs, const PredictOptions& options,
                               const dif::Options& run);

}  // namespace dvm::runtime
