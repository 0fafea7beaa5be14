#pragma once

#include <vector>

#include "dvm/dif/program.h"
#include "runtime/cost/assumptions.h"

namespace dvm::runtime {

// The consumer's work on a record.
struct RecordShape {
  double bytes = 0;              // with strings of the expected size; 0: no record
  double string_bytes = 0;       // bytes of strings among them
  std::vector<RowUse> steps;     // for its actions, other than printing their values
  std::vector<RowUse> optional;  // steps that a profile need not price: its actions, their values and strings
};

// string: its expected size. A clause without a record has a shape without bytes.
RecordShape shape_of(const dif::EcbDesc& clause, double string, const PredictOptions& options);

}  // namespace dvm::runtime
