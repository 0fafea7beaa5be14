#pragma once
// What the user is told on standard error, in dtrace's words: faults of clauses, and drops by kind.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/buffer/drops.h"
#include "runtime/consumer/printer.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// "dt_clause_0 for probe ID 1 (dtrace:::BEGIN)"
std::string place_text(const Ecb& ecb);
// "error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): divide-by-zero at DIF offset 12"
std::string error_text(const ErrorRecord& error, const Enabling& enabling);

// Each kind and CPU of which there are more than before.
std::vector<DropLine> drops_between(const Drops& before, const Drops& now);
// "12 drops on CPU 0"
std::string drop_text(const DropLine& drop, bool with_tag);
// "12 values were read after their firing ..."
std::string late_text(uint64_t values);
// All of them in one line, those of all CPUs together: "in all 12 drops, 3 aggregation drops".
std::string drops_summary(const Drops& drops);

}  // namespace dvm::runtime
