// Tested by tests/unit/runtime/agent_ways_test.cpp.

#include "runtime/instrument/agent/foresee.h"

#include <utility>
#include <variant>

#include "runtime/agent/site_ability.h"
#include "runtime/agent/site_needs.h"
#include "runtime/instrument/agent/clause_code.h"
#include "runtime/instrument/agent/record_program.h"

namespace dvm::runtime {
namespace {

const UprobeSite& site_of(const ForeseenProbe& one) { return std::get<UprobeSite>(one.probe->site); }

ClauseSteps steps_of(const ForeseenProbe& one, bool follows, const ChangedGlobals& changed) {
  const SiteShape shape = shape_at(*one.probe);
  ClausePlace place{shape, {}, site_of(one).pid, one.probe, follows};
  if (site_of(one).is_return) place.exit = 0;
  place.by_frame_pointers = one.by_frame_pointers;
  const std::vector<uint16_t> globals = changed.only_read(one.globals);
  place.globals = globals;
  place.kept = changed.kept();
  ClauseSteps steps = make_steps(one.clauses, place, [](const KnownClause&) { return 0U; });
  if (steps.in_dvm == InDvm::nothing) steps.in_dvm = one.in_dvm;
  return steps;
}

// `to` makes records of these needs.
template <class Record>
void add_programs(CaptureNeeds needs, const SiteShape& shape, Record& to) {
  needs.thread = true;
  const RecordLayouts layouts = make_agent_layouts(possible_needs(needs, shape), shape);
  to.program = make_record_program(layouts.first);
  if (layouts.larger) to.larger_program = make_record_program(*layouts.larger);
}

AgentFirer firer_of(const ForeseenProbe& one, ClauseSteps steps, bool shares_globals) {
  AgentFirer firer;
  firer.has_variables = steps.are_in_thread() && (one.has_thread_variables || shares_globals);
  firer.steps = std::move(steps.steps);
  firer.locals = steps.locals;
  add_programs(one.needs, shape_at(*one.probe), firer);
  for (AgentStep& step : firer.steps)
    if (is_clause_record(step)) add_programs(one.clauses[step.record.clause].record->needs, shape_at(*one.probe), step.record);
  return firer;
}

std::vector<size_t> records_of(const AgentFirer& firer) {
  std::vector<size_t> clauses;
  for (const AgentStep& step : firer.steps)
    if (is_clause_record(step)) clauses.push_back(step.record.clause);
  return clauses;
}

Foreseen foreseen(const ForeseenProbe& one, ClauseSteps steps, bool follows, bool shares_globals) {
  Foreseen made;
  made.is_at_site = steps.are_in_thread();
  const InDvm reason = steps.in_dvm;
  const AgentFirer firer = firer_of(one, std::move(steps), shares_globals);
  made.records = records_of(firer);
  if (!made.is_at_site || !made.records.empty()) made.in_dvm = reason;
  made.is_common = follows || !can_run_all({&firer, 1});
  made.is_gated = !gates_of({&firer, 1}).empty();
  made.takes_lane = !made.is_at_site || made.is_common || !(only_counts({&firer, 1}) || only_assigns({&firer, 1}));
  return made;
}

}  // namespace

SiteShape shape_at(const Probe& probe) {
  const auto& site = std::get<UprobeSite>(probe.site);
  return site.is_return ? exit_shape_of(site) : shape_of(site);
}

// Clauses that use thread-local variables are on one side, and so are those that use globals which threads may change.
std::vector<Foreseen> foresee(std::span<const ForeseenProbe> probes, bool follows, InDvm sharing) {
  std::vector<ClauseSteps> steps;
  ChangedGlobals globals;
  for (const ForeseenProbe& one : probes) globals.note(one.clauses, one.globals);
  globals.keep_in_threads();
  for (bool are_all_here = false; !are_all_here;) {
    are_all_here = true;
    steps.clear();
    for (const ForeseenProbe& one : probes) {
      steps.push_back(steps_of(one, follows, globals));
      are_all_here &= !globals.are_kept(one.globals) || steps.back().are_in_thread();
    }
    if (!are_all_here) globals.keep_in_dvm();
  }
  bool are_shared = false;
  for (size_t i = 0; i < probes.size(); i++) are_shared |= probes[i].has_thread_variables && !steps[i].are_in_thread();
  std::vector<Foreseen> all;
  for (size_t i = 0; i < probes.size(); i++) {
    if (are_shared && probes[i].has_thread_variables && steps[i].are_in_thread()) steps[i] = {.in_dvm = sharing};
    all.push_back(foreseen(probes[i], std::move(steps[i]), follows, globals.are_kept(probes[i].globals)));
  }
  return all;
}

}  // namespace dvm::runtime
