#pragma once
// What the user is told on standard error, in dtrace's words: faults of clauses, and drops by kind.

#include <cstdint>
#include <string>

#include "dvm/vm/state.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// "dt_clause_0 for probe ID 1 (dtrace:::BEGIN)"
std::string place_text(const Ecb& ecb);
// "error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): divide-by-zero at DIF offset 12"
std::string error_text(const ErrorRecord& error, const Enabling& enabling);

struct Drops {
  uint64_t principal = 0;  // records without room, and firings that an instrument lost
  uint64_t aggregation = 0;
  vm::DynamicDrops dynamic;
  uint64_t errors_in_error = 0;
};

// A line for each kind of which there are more than before: "12 drops on CPU 0". One thread keeps all records, so the CPU that
// dtrace's line names is always 0.
std::string drops_text(const Drops& before, const Drops& now);

}  // namespace dvm::runtime
