#pragma once
// What becomes of records that clauses speculate: only those that are committed are printed. Counted is how many speculations
// begin and end, not which; all of a script are taken for alike:
//
//   begun      by clauses that call speculation(), as often as their predicates hold
//   ended      by those with commit() or discard(), in the order of the program: each finds what those before it have left, so a
//              discard() after a commit() has only the rest
//   printed    what is committed of all that is begun; where only BEGIN begins any, of all that is ended
//
// Clauses are weighed by the rates of their probes, if those are known of all that have to do with speculations, else as if their
// probes fired equally often.

#include <span>

#include "runtime/cost/predict.h"

namespace dvm::runtime {

// Whether its records go to a speculation.
bool speculates(const dif::EcbDesc& clause);
// Of what is speculated, how much is committed: 0 to 1.
double committed_share(std::span<const dif::Program* const> programs, const PredictOptions& options);
// The same of one clause that speculates: what it ends itself has no record of its own.
double committed_share(const dif::EcbDesc& clause, double of_all);

}  // namespace dvm::runtime
