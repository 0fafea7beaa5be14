#pragma once
// What the user is told on standard error, in dtrace's words: faults of clauses, and drops by kind.

#include <cstdint>
#include <string>

#include "runtime/buffer/drops.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// "dt_clause_0 for probe ID 1 (dtrace:::BEGIN)"
std::string place_text(const Ecb& ecb);
// "error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): divide-by-zero at DIF offset 12"
std::string error_text(const ErrorRecord& error, const Enabling& enabling);

// A line for each kind and CPU of which there are more than before: "12 drops on CPU 0".
std::string drops_text(const Drops& before, const Drops& now, bool with_tags);
// All of them in one line, those of all CPUs together: "in all 12 drops, 3 aggregation drops".
std::string drops_summary(const Drops& drops);

}  // namespace dvm::runtime
