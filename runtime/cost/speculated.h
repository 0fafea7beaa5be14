#pragma once
// The share of speculated records that is committed, and so printed. All speculations of a script are treated alike. Clauses that
// call speculation() begin them; clauses with commit() or discard() end them. In the order of the program each ends what earlier
// ones have left. Clauses are weighed by the rates of their probes if all of these are known, otherwise as equally frequent.

#include <span>

#include "runtime/cost/assumptions.h"

namespace dvm::runtime {

// True if the records of the clause go to a speculation.
bool speculates(const dif::EcbDesc& clause);
// The committed share, 0 to 1: of all that begins, or of all that ends if only BEGIN begins any.
double committed_share(std::span<const dif::Program* const> programs, const PredictOptions& options);
// The same for one clause that speculates; 0 if it ends its speculation itself.
double committed_share(const dif::EcbDesc& clause, double of_all);

}  // namespace dvm::runtime
