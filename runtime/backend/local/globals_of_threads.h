#pragma once
// Finds the global variables that clauses at sites may change in the traced threads.
//
// Threads fire at the same time, while dvm runs one firing after another. The results must be the same as in some order of the
// firings. So a firing in a thread uses at most one such variable, and reads or changes it once, in one atomic step. The firings
// are then in the order of these steps. There is no such limit for a variable that clauses at sites only add to and that only dvm
// reads, because a sum does not depend on the order; dvm may change it, too. Clauses on one timer use only one variable, because
// threads may fire between two reads.

#include <cstdint>
#include <set>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// Ids of integers. Empty if clauses are in several processes.
std::set<uint16_t> globals_of_threads(const Enabling& enabling, const dif::Options& options);

}  // namespace dvm::runtime
