// Tested by tests/unit/runtime/enabling_test.cpp.

#include "runtime/session/enabled_probes.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/backend/local/site_clauses.h"

namespace dvm::runtime {
namespace {

bool is_error_probe(const Probe& probe) { return std::holds_alternative<InternalSite>(probe.site) && probe.name == "ERROR"; }

using known::Locals;

// The needs of clauses, each worked out once for the same known variables.
class ClauseNeeds {
 public:
  explicit ClauseNeeds(const dif::Options& options)
      : strsize_(static_cast<uint32_t>(std::clamp<int64_t>(options[dif::Option::strsize], 1, 1 << 24))) {}

  CaptureNeeds of(const ProbeEcbs& probe) {
    Locals nothing;
    return of_all(probe.ecbs, nothing);
  }

  // ERROR fires where the fault was, so what its clauses ask of the thread and the time must be captured with every probe that
  // can fault. Its arguments are its own.
  CaptureNeeds on_error(const Enabling& enabling) {
    CaptureNeeds needs;
    for (const ProbeEcbs& probe : enabling.probes())
      if (is_error_probe(*probe.probe)) needs = of(probe);
    needs.args = 0;
    needs.memory.clear();
    return needs;
  }

 private:
  struct Found {
    Locals before, after;
    CaptureNeeds needs;
  };

  // variables: those that are known before the first clause, and after the last one. A predicate may keep a clause from storing.
  CaptureNeeds of_all(const std::vector<const Ecb*>& ecbs, Locals& variables) {
    CaptureNeeds all;
    for (const Ecb* ecb : ecbs) {
      const Found& found = find(ecb->plan->desc, variables);
      all |= found.needs;
      for (const auto& [variable, value] : found.after)
        if (value.is_word()) variables[variable] = value;
    }
    return all;
  }

  const Found& find(const dif::EcbDesc& clause, const Locals& before) {
    std::vector<Found>& all = found_[&clause];
    const auto known = std::find_if(all.begin(), all.end(), [&](const Found& one) { return one.before == before; });
    if (known != all.end()) return *known;
    Found& made = all.emplace_back(Found{before, before, {}});
    made.needs = needs_of(clause, strsize_, made.after);
    return made;
  }

  uint32_t strsize_;
  std::unordered_map<const dif::EcbDesc*, std::vector<Found>> found_;
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
    result.push_back({probe.probe, needs.of(probe), wanted_processes(clauses), options[dif::Option::site] != 0,
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
