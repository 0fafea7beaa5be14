// Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/measured.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

struct Counted {
  double firings = 0, hits = 0;
  std::vector<vm::InstructionCounts> instructions;
};

void add(Counted& to, const EcbAccount& ecb) {
  to.firings += static_cast<double>(ecb.firings), to.hits += static_cast<double>(ecb.predicate_hits);
  to.instructions.resize(std::max(to.instructions.size(), ecb.instructions.size()));
  for (size_t i = 0; i < ecb.instructions.size(); i++) vm::add_instructions(to.instructions[i], ecb.instructions[i]);
}

}  // namespace

MeasuredClauses measured_clauses(const Account& account) {
  std::map<ClausePlace, Counted> counted;
  for (const EcbAccount& ecb : account.ecbs) add(counted[place_of(ecb.clause)], ecb);
  MeasuredClauses clauses;
  for (auto& [place, count] : counted)
    if (count.firings > 0) clauses[place] = {count.hits / count.firings, std::move(count.instructions)};
  return clauses;
}

}  // namespace dvm::runtime
