// Tested by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/runs/engine_changes.h"

#include <algorithm>
#include <limits>
#include <map>

#include "runtime/plan/translation_price.h"

namespace dvm::runtime {
namespace {

// A clause on all of its probes.
struct Interpreted {
  dif::SourcePosition position;
  double price = 0;           // ns of its translation, besides loading LLVM
  double rate = 0, load = 0;  // firings a second; ns of them a second
  double ns = 0, probes = 0;  // of a firing on each probe, added up

  double each() const { return rate > 0 ? load / rate : ns / probes; }
};

std::map<size_t, Interpreted> interpreted(const Prediction& prediction, double clock_hz) {
  std::map<size_t, Interpreted> all;
  for (const ProbePrediction& probe : prediction.probes) {
    if (probe.agent && probe.agent->way.is_at_site) continue;  // no engine runs it
    for (const ClausePrediction& clause : probe.clauses) {
      const EcbCost& cost = clause.cost;
      const double ns = (cost.predicate.expected.clocks + cost.probability * cost.actions.expected.clocks) / clock_hz * 1e9;
      Interpreted& one = all[clause.number];
      one.position = clause.position;
      one.price = TranslationPrice().per_part * TranslationPrice::parts(clause.difos);
      one.rate += probe.rate, one.load += probe.rate * ns;
      one.ns += ns, one.probes++;
    }
  }
  return all;
}

}  // namespace

std::vector<EngineChange> engine_changes(const Prediction& prediction, double clock_hz) {
  const double loading = TranslationPrice().load;
  const std::map<size_t, Interpreted> all = interpreted(prediction, clock_hz);
  double first = std::numeric_limits<double>::infinity();  // seconds until the first change
  for (const auto& [number, one] : all)
    if (one.load > 0) first = std::min(first, (loading + one.price) / one.load);
  std::vector<EngineChange> changes;
  for (const auto& [number, one] : all) {
    if (one.each() <= 0) continue;
    EngineChange change{number, one.position, (loading + one.price) / one.each(), {}};
    if (one.load > 0) {
      change.seconds = std::max(first, one.price / one.load);
      change.firings = *change.seconds * one.rate;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace dvm::runtime
