// Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/measured.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

struct Counted {
  double firings = 0, hits = 0;
  std::vector<vm::BranchCounts> branches;
};

void add(Counted& to, const EcbAccount& ecb) {
  to.firings += static_cast<double>(ecb.firings), to.hits += static_cast<double>(ecb.predicate_hits);
  to.branches.resize(std::max(to.branches.size(), ecb.branches.size()));
  for (size_t i = 0; i < ecb.branches.size(); i++) vm::add_branches(to.branches[i], ecb.branches[i]);
}

}  // namespace

MeasuredClauses measured_clauses(const Account& account) {
  std::map<ClausePlace, Counted> counted;
  for (const EcbAccount& ecb : account.ecbs) add(counted[place_of(ecb.clause)], ecb);
  MeasuredClauses clauses;
  for (auto& [place, count] : counted)
    if (count.firings > 0) clauses[place] = {count.hits / count.firings, std::move(count.branches)};
  return clauses;
}

}  // namespace dvm::runtime
