// The steps of clauses in the threads of a process. Covered by tests/runtime/scenarios/test_agent_in_thread.py.

#include <algorithm>
#include <utility>

#include "runtime/instrument/agent/agent_planner.h"
#include "runtime/instrument/agent/clause_code.h"

namespace dvm::runtime {

// Stacks of its probe are to be found by these, as by a uprobe. The files of the process are looked at only if that matters.
bool AgentPlanner::follows_frame_pointers(const Candidate& candidate) {
  const CaptureNeeds& needs = candidate.enabled->needs;
  if (needs.frames <= 1 || needs.stack_bytes != kWhereNeeded) return needs.stack_bytes == 0;
  return delivery_.unwinder().keeps_frame_pointers(candidate.site->pid);
}

// None: dvm runs its clauses.
ClauseSteps AgentPlanner::steps_of(const Candidate& candidate) {
  if (candidate.enabled->clauses.empty()) return {.in_dvm = candidate.enabled->in_dvm};
  const SiteShape shape = shape_at(candidate);
  ClausePlace place{shape, candidate.exit, candidate.site->pid, candidate.enabled->probe, follows_};
  place.by_frame_pointers = follows_frame_pointers(candidate);
  const std::vector<uint16_t> globals = globals_.only_read(candidate.enabled->globals);
  place.globals = globals;
  place.kept = globals_.kept();
  ClauseSteps made =
      make_steps(candidate.enabled->clauses, place, [&](KnownClause clause) { return number_of(std::move(clause)); });
  if (made.in_dvm == InDvm::nothing) made.in_dvm = candidate.enabled->in_dvm;
  return made;
}

bool AgentPlanner::ends_run(const EnabledProbe& enabled) {
  return std::any_of(enabled.clauses.begin(), enabled.clauses.end(),
                     [](const SiteClause& clause) { return clause.record && clause.record->ends_run; });
}

// In the order of the candidates. Empty where a jump leaves the function.
std::vector<ClauseSteps> AgentPlanner::made_steps() {
  std::vector<ClauseSteps> all;
  for (const Candidate& one : candidates_)
    all.push_back(one.refusal.empty() && one.tail != inside::Tail::leaves ? steps_of(one) : ClauseSteps());
  return all;
}

// Clauses that use thread-local variables are on one side in each process, and so are those that use globals which threads
// change.
std::vector<ClauseSteps> AgentPlanner::all_steps() {
  for (const Candidate& one : candidates_) globals_.note(one.enabled->clauses, one.enabled->globals);
  if (!has_placed_) globals_.keep_in_threads();
  std::vector<ClauseSteps> all = made_steps();
  const auto is_in_dvm = [&](size_t i) { return candidates_[i].tail != inside::Tail::leaves && !all[i].are_in_thread(); };
  for (size_t i = 0; i < all.size(); i++)
    if (!has_placed_ && globals_.are_kept(candidates_[i].enabled->globals) && is_in_dvm(i)) {
      globals_.keep_in_dvm();
      all = made_steps();
    }
  has_placed_ = true;
  for (size_t i = 0; i < all.size(); i++) {
    ends_run_ |= ends_run(*candidates_[i].enabled);
    const bool is_late = globals_.are_kept(candidates_[i].enabled->other_globals);  // such a variable can be in threads no longer
    if (is_late || (shares(*candidates_[i].enabled) && is_in_dvm(i))) keep_variables(candidates_[i].site->pid);
  }
  for (size_t i = 0; i < all.size(); i++)
    if (shares(*candidates_[i].enabled) && has_variables(candidates_[i].site->pid) && all[i].are_in_thread())
      all[i] = {.in_dvm = reason_to_share()};
  return all;
}

void AgentPlanner::preview(std::span<const EnabledProbe> probes, std::vector<Refused>& refused, ClausePlaces& places) const {
  AgentPlanner planner(delivery_, by_breakpoints_);
  planner.follows_ = follows_;
  planner.files_ = files_;
  const auto planned = planner.plan(probes, refused);
  if (!planned) return;
  for (const auto& [pid, sites] : *planned)
    for (const AgentPlannedSite& one : sites) places.note(one.site, one.enabled, one.in_dvm, planner.why_by_calls(pid));
}

// One with a constant key is mostly that of its probe alone.
uint32_t AgentPlanner::number_of(KnownClause clause) {
  const bool is_own = std::any_of(clause.keys.begin(), clause.keys.end(),
                                  [](const KeyPart& part) { return part.kind == KeyPart::Kind::constant; });
  const auto known = is_own ? clauses_.end() : std::find(clauses_.begin(), clauses_.end(), clause);
  const auto number = static_cast<uint32_t>(known - clauses_.begin());
  if (known == clauses_.end()) clauses_.push_back(std::move(clause));
  return number;
}

// Paths may lead to other files now.
void AgentPlanner::forget_files() {
  candidates_.clear();
  objects_.clear();
  read_.clear();
  semaphores_.forget();
}

// A return fires behind the probe of its instruction. At a `ret` of several functions the one that was called last returns first.
void AgentPlanner::put_outer_last() {
  const auto place = [](const Candidate& one) { return std::pair(one.exit.has_value(), one.depth); };
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [&](const Candidate& a, const Candidate& b) { return place(a) < place(b); });
}

}  // namespace dvm::runtime
