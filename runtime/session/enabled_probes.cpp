// Tested by tests/unit/runtime/enabling_test.cpp.

#include "runtime/session/enabled_probes.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/backend/local/site_clauses.h"

namespace dvm::runtime {
namespace {

bool is_error_probe(const Probe& probe) { return std::holds_alternative<InternalSite>(probe.site) && probe.name == "ERROR"; }

// The needs of clauses, each worked out once.
class ClauseNeeds {
 public:
  explicit ClauseNeeds(const dif::Options& options)
      : strsize_(static_cast<uint32_t>(std::clamp<int64_t>(options[dif::Option::strsize], 1, 1 << 24))) {}

  CaptureNeeds of_all(const std::vector<const Ecb*>& ecbs) {
    CaptureNeeds all;
    for (const Ecb* ecb : ecbs) {
      const auto [needs, is_new] = known_.try_emplace(&ecb->plan->desc);
      if (is_new) needs->second = needs_of(ecb->plan->desc, strsize_);
      all |= needs->second;
    }
    return all;
  }

  // ERROR fires where the fault was, so what its clauses ask of the thread and the time must be captured with every probe that
  // can fault. Its arguments are its own.
  CaptureNeeds on_error(const Enabling& enabling) {
    CaptureNeeds needs;
    for (const ProbeEcbs& probe : enabling.probes())
      if (is_error_probe(*probe.probe)) needs = of_all(probe.ecbs);
    needs.args = 0;
    needs.memory.clear();
    return needs;
  }

 private:
  uint32_t strsize_;
  std::unordered_map<const dif::EcbDesc*, CaptureNeeds> known_;
};

}  // namespace

std::vector<EnabledProbe> enabled_probes(const Enabling& enabling, const dif::Options& options, bool may_run_at_site) {
  const int64_t unwound = options[dif::Option::ustackunwind];
  const uint32_t stack_bytes = unwound < 0 ? kWhereNeeded : static_cast<uint32_t>(unwound);
  ClauseNeeds needs(options);
  const CaptureNeeds on_error = needs.on_error(enabling);
  const SiteClauses site_clauses(enabling, options);
  std::vector<EnabledProbe> result;
  for (const ProbeEcbs& probe : enabling.probes()) {
    std::vector<const dif::EcbDesc*> clauses;
    for (const Ecb* ecb : probe.ecbs) clauses.push_back(&ecb->plan->desc);
    result.push_back({probe.probe, needs.of_all(probe.ecbs), wanted_processes(clauses), options[dif::Option::site] != 0,
                      static_cast<ReturnBy>(options[dif::Option::return_])});
    if (may_run_at_site) {
      SiteClauseList at_site = site_clauses.clauses_of(probe);
      for (SiteClause& clause : at_site.clauses) {
        for (std::optional<ClauseRecordPlan>* record : {&clause.record, &clause.fault}) {
          if (!*record) continue;
          if (probe.needs_machine) (*record)->needs |= on_error;
          if ((*record)->needs.frames != 0) (*record)->needs.stack_bytes = stack_bytes;
        }
      }
      result.back().clauses = std::move(at_site.clauses);
      result.back().in_dvm = at_site.in_dvm;
      result.back().globals = std::move(at_site.globals);
    }
    result.back().has_thread_variables = site_clauses.has_thread_variables(probe);
    if (probe.needs_machine) result.back().needs |= on_error;
    if (result.back().needs.frames != 0) result.back().needs.stack_bytes = stack_bytes;
  }
  return result;
}

}  // namespace dvm::runtime
