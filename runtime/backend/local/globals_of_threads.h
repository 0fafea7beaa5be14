#pragma once
// Finds the global variables that clauses at sites may change in the traced threads.
//
// Threads fire at the same time, while dvm runs one firing after another. The results must be the same. So a firing in a thread
// looks at one such variable once at most, or changes it once: then all firings are as if in the order in which they do this. A
// variable that clauses at sites only add to, and dvm alone reads, is none of these: sums do not depend on the order. dvm may
// change such a variable, too. Clauses on one timer use one variable only, since threads go on between two.

#include <cstdint>
#include <set>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// Ids of integers. Empty if clauses are in several processes.
std::set<uint16_t> globals_of_threads(const Enabling& enabling, const dif::Options& options);

}  // namespace dvm::runtime
