#pragma once
// Estimates the fraction of speculated records that is committed, and so printed. All speculations of a script are treated alike.
// Clauses with speculation() begin them; clauses with commit() or discard() end them. In program order, each of these ends what
// earlier ones have left. Clauses are weighted by the rates of their probes or, if not all rates are known, equally.

#include <span>

#include "runtime/cost/assumptions.h"

namespace dvm::runtime {

// True if the records of the clause go to a speculation.
bool speculates(const dif::EcbDesc& clause);
// The committed fraction, 0 to 1: of all speculations that begin or, if only BEGIN begins any, of all that end.
double committed_share(std::span<const dif::Program* const> programs, const PredictOptions& options);
// The same for one clause that speculates; 0 if it ends its speculation itself.
double committed_share(const dif::EcbDesc& clause, double of_all);

}  // namespace dvm::runtime
