// Tested by tests/unit/runtime/agent_ways_test.cpp.

#include "runtime/backend/local/globals_of_threads.h"

#include <algorithm>
#include <map>
#include <variant>

#include "runtime/backend/local/global_uses.h"
#include "runtime/backend/local/single_use.h"

namespace dvm::runtime {
namespace {

// Where a clause fires, as bits.
constexpr unsigned kAtSite = 1, kInBegin = 2, kInEnd = 4, kInTimer = 8, kElsewhere = 16;

unsigned place_of(const Probe& probe) {
  if (std::holds_alternative<UprobeSite>(probe.site)) return kAtSite;
  if (is_own(probe, "BEGIN")) return kInBegin;
  if (is_own(probe, "END")) return kInEnd;
  const auto* timer = std::get_if<TimerSite>(&probe.site);
  return timer != nullptr && !timer->every_cpu ? kInTimer : kElsewhere;
}

class GlobalsFinder {
 public:
  GlobalsFinder(const Enabling& enabling, bool follows) : enabling_(enabling), follows_(follows) {
    for (const Ecb& ecb : enabling.ecbs()) places_[ecb.plan] |= place_of(*ecb.probe);
  }

  std::set<uint16_t> find() {
    for (const dif::Variable& one : enabling_.variables()) {
      const bool is_integer = one.kind == dif::VariableKind::scalar && one.type.kind == dif::TypeKind::integer;
      if (one.scope == dif::Scope::global && is_integer) add(one.id);
    }
    for (const ProbeEcbs& probe : enabling_.probes()) drop_used_often(probe);
    return found_;
  }

 private:
  // A clause without probes may have some later.
  unsigned place(const EcbPlan& plan) const {
    const auto found = places_.find(&plan);
    return found == places_.end() ? kElsewhere : found->second;
  }

  // Places where clauses use the variable, and where they change it.
  struct Uses {
    unsigned all = 0, changes = 0;
    bool only_adds = true;  // at sites
  };
  Uses uses_of(uint16_t id) const {
    Uses uses;
    for (const EcbPlan& plan : enabling_.plans())
      for (const vm::VerifiedDifo& one : plan.difos) {
        const dif::Difo& difo = one.difo();
        const bool changes = stores_global(difo, id);
        if (!changes && !loads_global(difo, id)) continue;
        const unsigned at = place(plan);
        uses.all |= at;
        if (changes) uses.changes |= at;
        if ((at & kAtSite) != 0) uses.only_adds &= only_adds(difo, id);
      }
    return uses;
  }

  void add(uint16_t id) {
    const Uses uses = uses_of(id);
    if ((uses.all & kElsewhere) != 0 || (uses.changes & kAtSite) == 0) return;
    if (!uses.only_adds && (follows_ || (uses.changes & (kInEnd | kInTimer)) != 0)) return;
    found_.insert(id);
    if (uses.only_adds) sums_.insert(id);
  }

  unsigned accesses(const ProbeEcbs& probe, uint16_t id) const {
    unsigned all = 0;
    for (const Ecb* ecb : probe.ecbs) all += global_accesses(*ecb->plan, id);
    return all;
  }

  void drop_used_often(const ProbeEcbs& probe) {
    const unsigned at = place_of(*probe.probe);
    if (at != kAtSite && at != kInTimer) return;
    std::map<uint16_t, unsigned> used;
    unsigned all = 0;
    for (const uint16_t id : found_) {
      if (at == kAtSite && sums_.contains(id)) continue;
      const unsigned its = at == kInTimer ? std::min(1U, accesses(probe, id)) : accesses(probe, id);
      if (its != 0) used[id] = its, all += its;
    }
    if (all <= 1 || (at == kAtSite && used.size() == 1 && single_use(probe, used.begin()->first))) return;
    for (const auto& [id, its] : used) found_.erase(id);
  }

  const Enabling& enabling_;
  bool follows_;
  std::map<const EcbPlan*, unsigned> places_;
  std::set<uint16_t> found_;
  std::set<uint16_t> sums_;  // those that clauses at sites only add to
};

bool are_in_one_process(const Enabling& enabling) {
  std::set<int32_t> processes;
  for (const Ecb& ecb : enabling.ecbs())
    if (const auto* site = std::get_if<UprobeSite>(&ecb.probe->site)) processes.insert(site->pid);
  return processes.size() == 1;
}

}  // namespace

std::set<uint16_t> globals_of_threads(const Enabling& enabling, const dif::Options& options) {
  if (!are_in_one_process(enabling)) return {};
  return GlobalsFinder(enabling, options[dif::Option::followfork] > 0).find();
}

}  // namespace dvm::runtime
