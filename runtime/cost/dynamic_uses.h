#pragma once
// What a script keeps in dynamic variables: thread-local ones and the elements of associative arrays, by the stores in its DIF.
// They lie in dynvarsize bytes; what finds no room is dropped.

#include <span>
#include <vector>

#include "dvm/vm/dynamic_room.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {

// A variable.
struct DynamicUse {
  vm::DynamicEntry entry;  // of its largest store; strings have the length that is expected
  bool is_thread = false;  // each thread has its own
  bool has_keys = false;   // there is one for each key
  double stores = 0;       // by a firing as frequent as options.rates says; to assign 0 is none
};

std::vector<DynamicUse> dynamic_uses(std::span<const dif::Program* const> programs, const PredictOptions& options);

// Whether keys are what there can be too many of; otherwise it is threads.
bool have_keys(std::span<const DynamicUse> uses);
// So many live keys have all of their variables; of variables without keys, so many threads.
double most_live(std::span<const DynamicUse> uses, double dynvarsize, double threads);

}  // namespace dvm::runtime
