// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/backend/local/site_clauses.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <variant>

#include "dvm/dif/action.h"
#include "dvm/dif/variable_of.h"
#include "runtime/backend/local/globals_of_threads.h"
#include "runtime/backend/local/single_use.h"
#include "runtime/instrument/capture.h"

namespace dvm::runtime {
namespace {

// Stands for the end of the run among thread-local variables.
constexpr uint16_t kRunsEnd = 0;
static_assert(kRunsEnd < dif::kFirstUserVariable);

bool ends_run(const EcbPlan& plan) {
  return std::any_of(plan.actions.begin(), plan.actions.end(),
                     [](const ActionPlan& action) { return action.kind == dif::Action::exit; });
}

bool is_timer(const Probe& probe) { return std::holds_alternative<TimerSite>(probe.site) || probe.name == "END"; }
const UprobeSite* site_of(const Probe& probe) { return std::get_if<UprobeSite>(&probe.site); }

bool stores_integer(const dif::Difo& difo, dif::Instruction in) {
  const dif::Variable* variable = dif::stored_variable(difo, in);
  return variable != nullptr && variable->kind == dif::VariableKind::scalar && variable->type.kind == dif::TypeKind::integer;
}

// An integer that is stored cannot be unreadable, unlike other values.
bool may_fault(const EcbPlan& plan) {
  return std::any_of(plan.difos.begin(), plan.difos.end(), [](const vm::VerifiedDifo& one) {
    const dif::Difo& difo = one.difo();
    return std::any_of(difo.text.begin(), difo.text.end(),
                       [&](dif::Instruction in) { return dif::info(in.opcode()).can_fault && !stores_integer(difo, in); });
  });
}

// A clause at a probe of a process does; the thread can then end it at once, in that process.
bool ends_at_site(const Enabling& enabling) {
  return std::any_of(enabling.ecbs().begin(), enabling.ecbs().end(),
                     [](const Ecb& ecb) { return ends_run(*ecb.plan) && site_of(*ecb.probe) != nullptr; });
}

// Only dvm can end the run at a firing: elsewhere than in threads, after a fault perhaps, or in several processes.
bool ends_in_dvm(const Enabling& enabling) {
  std::set<int32_t> processes;
  for (const Ecb& ecb : enabling.ecbs()) {
    const UprobeSite* site = site_of(*ecb.probe);
    if (site != nullptr) processes.insert(site->pid);
    const bool is_in_thread = site != nullptr && !may_fault(*ecb.plan);
    if (ends_run(*ecb.plan) && !is_in_thread && !is_timer(*ecb.probe)) return true;
  }
  return processes.size() > 1 && ends_at_site(enabling);
}

// Null: the clause does not use it.
const dif::Variable* find_global(const EcbPlan& plan, uint16_t id) {
  for (const vm::VerifiedDifo& difo : plan.difos)
    for (const dif::Variable& one : difo.difo().variables)
      if (one.scope == dif::Scope::global && one.id == id) return &one;
  return nullptr;
}

std::set<uint16_t> variables_of(const EcbPlan& plan, dif::Scope scope) {
  std::set<uint16_t> all;
  for (const vm::VerifiedDifo& difo : plan.difos)
    for (const dif::Variable& variable : difo.difo().variables)
      if (variable.scope == scope) all.insert(variable.id);
  return all;
}

// By dvm itself, and not at what a traced thread does: that thread may fire again before dvm knows.
bool is_dvms_own(const Probe& probe) {
  if (std::holds_alternative<TimerSite>(probe.site)) return true;
  return is_own(probe, "BEGIN") || is_own(probe, "END");
}

// Never true, whatever fires: such as a comparison of macro arguments.
bool is_false(const dif::Difo& difo) {
  const auto& text = difo.text;
  if (text.empty() || text.size() > 2 || !dif::is_return(text.back())) return false;
  if (text.size() == 1) return text.back().rd() == 0;
  const dif::Instruction set = text.front();
  if (set.rd() != text.back().rd()) return false;
  if (dif::is_move(set.opcode())) return set.r1() == 0;
  return dif::has_format(set, dif::Format::setx) && set.index() < difo.integers.size() && difo.integers[set.index()] == 0;
}

// No integer, nor an expression that is only evaluated.
bool needs_dvm(const ValuePlan& value) {
  const bool has_integer = value.type.kind == dif::TypeKind::integer || value.type.kind == dif::TypeKind::none;
  return !has_integer || value.made_by != dif::Action::expression;
}

InDvm reason_of(const Enabling& enabling, const dif::Options& options) {
  if (options[dif::Option::cpu] >= 0 || options[dif::Option::aggpercpu] > 0) return InDvm::cpu;
  return ends_in_dvm(enabling) ? InDvm::exits : InDvm::nothing;
}

bool is_own_stack(const ValuePlan& value) { return value.made_by == dif::Action::ustack && !value.is_kept; }

bool is_no_key(const ValuePlan& value) {
  if (is_own_stack(value)) return false;
  const bool is_text = value.type.kind == dif::TypeKind::string && value.made_by == dif::Action::expression;
  return needs_dvm(value) && !is_text;
}

bool uses(const EcbPlan& plan, const dif::Variable& variable) {
  return std::any_of(plan.difos.begin(), plan.difos.end(), [&](const vm::VerifiedDifo& difo) {
    const auto& its = difo.difo().variables;
    return std::any_of(its.begin(), its.end(),
                       [&](const dif::Variable& one) { return one.scope == variable.scope && one.id == variable.id; });
  });
}

bool is_loaded(const EcbPlan& plan, const dif::Variable& variable) {
  return std::any_of(plan.difos.begin(), plan.difos.end(), [&](const vm::VerifiedDifo& difo) {
    const auto& text = difo.difo().text;
    return std::any_of(text.begin(), text.end(), [&](dif::Instruction in) {
      const dif::Variable* its = dif::has_format(in, dif::Format::ldv) ? dif::variable_of(difo.difo(), in) : nullptr;
      return its != nullptr && its->scope == variable.scope && its->id == variable.id;
    });
  });
}

bool is_seen_by_others(const dif::Variable& variable, const Ecb& ecb, const ProbeEcbs& probe) {
  if (variable.scope == dif::Scope::thread) return true;
  const auto its = [&](const Ecb* one) { return one != &ecb && uses(*one->plan, variable); };
  return variable.scope == dif::Scope::clause && std::any_of(probe.ecbs.begin(), probe.ecbs.end(), its);
}

using IsKept = std::function<bool(const dif::Variable&)>;

bool changes(const dif::Difo& difo, const IsKept& is_kept) {
  return std::any_of(difo.text.begin(), difo.text.end(), [&](dif::Instruction in) {
    const dif::Variable* variable = dif::stored_variable(difo, in);
    return variable != nullptr && is_kept(*variable);
  });
}

bool stores_text(const dif::Difo& difo) {
  return changes(difo, [](const dif::Variable& one) { return one.type.kind == dif::TypeKind::string; });
}

// From an integer, such as a symbol from its address.
bool is_made(const ValuePlan& value) { return value.made_by != dif::Action::expression && !value.is_kept; }
const dif::DataType kAddress{dif::TypeKind::integer, false, false, sizeof(uint64_t), ""};

// Of a value that is stored in a string variable: that of the string.
dif::DataType text_type(const EcbPlan& plan) {
  return {dif::TypeKind::string, false, false, static_cast<uint32_t>(plan.strsize), ""};
}

// The values of the actions up to the last one that changes such a variable.
std::vector<SiteValue> changing_values(const EcbPlan& plan, const IsKept& is_kept) {
  std::vector<SiteValue> values;
  size_t difo = plan.predicate ? 1 : 0, last = 0;
  for (const ActionPlan& action : plan.actions)
    for (const ValuePlan& value : action.values) {
      values.push_back({&plan.difos[difo++].difo(), is_made(value) ? kAddress : value.type});
      if (stores_text(*values.back().difo)) values.back().type = text_type(plan);
      if (changes(*values.back().difo, is_kept)) last = values.size();
    }
  values.resize(last);
  return values;
}

// Whether such a variable changes, or to what, depends on the CPU. That may be another one when the record is written.
bool depends_on_cpu(const EcbPlan& plan, const IsKept& is_kept) {
  const auto is_cpu = [](dif::Instruction in) { return dif::built_in_of(in) == static_cast<unsigned>(dif::BuiltIn::cpu); };
  return std::any_of(plan.difos.begin(), plan.difos.end(), [&](const vm::VerifiedDifo& one) {
    const dif::Difo& difo = one.difo();
    const bool decides = (plan.predicate && &one == plan.difos.data()) || changes(difo, is_kept);
    return decides && std::any_of(difo.text.begin(), difo.text.end(), is_cpu);
  });
}

bool changes(const EcbPlan& plan, const IsKept& is_kept) {
  return std::any_of(plan.difos.begin(), plan.difos.end(), [&](const auto& one) { return changes(one.difo(), is_kept); });
}

void add_variables(const EcbPlan& plan, const IsKept& is_kept, std::vector<dif::Variable>& to) {
  const auto is_known = [&](const dif::Variable& one) {
    return std::any_of(to.begin(), to.end(), [&](const auto& its) { return its.scope == one.scope && its.id == one.id; });
  };
  for (const vm::VerifiedDifo& difo : plan.difos)
    for (const dif::Variable& one : difo.difo().variables)
      if (is_kept(one) && !is_known(one)) to.push_back(one);
}

}  // namespace

void SiteClauseList::leave_to_dvm() {
  may_record = false;
  for (SiteClause& clause : clauses) clause.needs_dvm = true, clause.actions.clear(), clause.record.reset(), clause.fault.reset();
}

SiteClauses::SiteClauses(const Enabling& enabling, const dif::Options& options, known::Locals addresses)
    : enabling_(enabling),
      addresses_(std::move(addresses)),
      strsize_(static_cast<uint32_t>(std::clamp<int64_t>(options[dif::Option::strsize], 1, 1 << 24))),
      of_script_(reason_of(enabling, options)),
      ends_at_site_(ends_at_site(enabling)),
      kept_(globals_of_threads(enabling, options)) {
  find_globals();
  find_ahead();
  do {
    in_dvm_.clear();
    find_variables_in_dvm();
  } while (drop_globals_of_dvm());
}

std::set<uint16_t> SiteClauses::shared_by(const ProbeEcbs& probe) const {
  std::set<uint16_t> all;
  for (const Ecb* ecb : probe.ecbs) all.merge(variables_of(*ecb->plan, dif::Scope::thread));
  if (ends_at_site_ && site_of(*probe.probe) != nullptr) all.insert(kRunsEnd);
  return all;
}

// A clause without probes may have some later, where threads fire.
void SiteClauses::find_globals() {
  std::set<const EcbPlan*> own, others;
  for (const Ecb& ecb : enabling_.ecbs()) (is_dvms_own(*ecb.probe) ? own : others).insert(ecb.plan);
  for (const dif::Variable& one : enabling_.variables())
    if (one.scope == dif::Scope::global && one.kind == dif::VariableKind::scalar && one.type.kind == dif::TypeKind::integer)
      globals_.insert(one.id);
  for (const EcbPlan& plan : enabling_.plans()) {
    if (own.contains(&plan) && !others.contains(&plan)) continue;
    for (const vm::VerifiedDifo& difo : plan.difos)
      for (const dif::Instruction in : difo.difo().text)
        if (const dif::Variable* its = dif::stored_variable(difo.difo(), in); its != nullptr && its->scope == dif::Scope::global)
          globals_.erase(its->id);
  }
}

// Timers find changes of which the records come later, and so does END if a timer ends the run.
void SiteClauses::find_ahead() {
  std::set<uint16_t> at_end;
  bool ends = false;
  for (const Ecb& ecb : enabling_.ecbs()) {
    const bool is_timed = std::holds_alternative<TimerSite>(ecb.probe->site);
    if (is_timed) ends |= ends_run(*ecb.plan);
    if (is_timed || is_own(*ecb.probe, "END")) (is_timed ? ahead_ : at_end).merge(variables_of(*ecb.plan, dif::Scope::global));
  }
  if (ends) ahead_.merge(at_end);
}

// All clauses that use a variable run on one side. Each that is found to run in dvm may take others with it.
void SiteClauses::find_variables_in_dvm() {
  for (size_t before = SIZE_MAX; before != in_dvm_.size();) {
    before = in_dvm_.size();
    for (const ProbeEcbs& probe : enabling_.probes()) {
      if (!has_thread_variables(probe)) continue;
      if (site_of(*probe.probe) != nullptr && clauses_of(probe).may_record) continue;
      in_dvm_.merge(shared_by(probe));
    }
  }
}

// Returns whether clauses that run in dvm use some.
bool SiteClauses::drop_globals_of_dvm() {
  const size_t before = kept_.size();
  for (const ProbeEcbs& probe : enabling_.probes()) {
    if (kept_.empty() || site_of(*probe.probe) == nullptr) continue;
    const SiteClauseList list = clauses_of(probe);
    for (size_t i = 0; i < list.clauses.size(); i++) {
      if (!list.clauses[i].needs_dvm) continue;
      for (const uint16_t id : variables_of(*probe.ecbs[i]->plan, dif::Scope::global))
        if (!may_be_in_record(list.clauses[i], id)) kept_.erase(id);
    }
  }
  return kept_.size() != before;
}

bool SiteClauses::may_be_in_record(const SiteClause& clause, uint16_t id) const {
  return clause.record && clause.seen && clause.seen->variable.id == id && !ahead_.contains(id);
}

SiteClauseList SiteClauses::clauses_of(const ProbeEcbs& probe) const {
  SiteClauseList made;
  made.in_dvm = of_script_;
  known::Locals variables = addresses_;  // and those that earlier clauses of the firing have stored
  for (const Ecb* ecb : probe.ecbs) {
    known::Locals after = variables;
    const CaptureNeeds needs = needs_of(ecb->plan->desc, strsize_, after);
    keep_words(variables, after);
    for (const auto& [variable, word] : addresses_) variables[variable] = word;  // the thread has stored it
    SiteClause& clause = made.clauses.emplace_back();
    clause.number = ecb->plan->clause;
    const InDvm reason = add(*ecb->plan, clause);
    if (made.in_dvm == InDvm::nothing) made.in_dvm = reason;
    if (reason != InDvm::nothing) clause.needs_dvm = true, clause.actions.clear();
    clause.record = record_of(*ecb, probe, needs);
    clause.fault = fault_of(*ecb, probe, needs);
    made.may_record &= !clause.needs_dvm || clause.record;
    const std::vector<uint16_t> globals = globals_of(*ecb->plan);
    made.globals.insert(made.globals.end(), globals.begin(), globals.end());
    for (const uint16_t id : variables_of(*ecb->plan, dif::Scope::global))
      if (!globals_.contains(id)) (kept_.contains(id) ? made.globals : made.other_globals).push_back(id);
  }
  add_seen(probe, made);
  const bool shares = are_shared(probe);
  if (made.in_dvm == InDvm::nothing && shares) made.in_dvm = in_dvm_.contains(kRunsEnd) ? InDvm::exits : InDvm::shared;
  if (of_script_ != InDvm::nothing || shares || !made.may_record) made.leave_to_dvm();
  return made;
}

// A variable that a firing cannot use at one time otherwise. Of several, it is the one that is used most: dvm can keep those that
// only records need.
std::optional<uint16_t> SiteClauses::seen_by(const ProbeEcbs& probe, const SiteClauseList& list) const {
  std::optional<uint16_t> found;
  unsigned most = 0;
  for (const uint16_t id : kept_) {
    unsigned uses = 0;
    bool is_recorded = false;
    for (size_t i = 0; i < probe.ecbs.size(); i++) {
      const unsigned its = global_accesses(*probe.ecbs[i]->plan, id);
      uses += its, is_recorded |= list.clauses[i].needs_dvm && its != 0;
    }
    if ((uses > 1 || is_recorded) && uses > most && single_use(probe, id)) found = id, most = uses;
  }
  return found;
}

void SiteClauses::add_seen(const ProbeEcbs& probe, SiteClauseList& to) const {
  const auto id = seen_by(probe, to);
  if (!id) return;
  const SingleUse use = *single_use(probe, *id);
  for (size_t i = 0; i < probe.ecbs.size(); i++) {
    const EcbPlan& plan = *probe.ecbs[i]->plan;
    SiteClause& clause = to.clauses[i];
    const dif::Variable* variable = find_global(plan, *id);
    if (variable == nullptr) continue;
    clause.seen = SeenGlobal{*variable, i == use.first, use.reads_time, {}};
    if (i == use.changing) clause.seen->change = SiteValue{&plan.difos[use.change].difo(), kAddress};
    if (ahead_.contains(*id)) clause.record.reset();
    if (clause.record) clause.record->variables.push_back(*variable);
  }
}

// That it may read where it fires.
std::vector<uint16_t> SiteClauses::globals_of(const EcbPlan& plan) const {
  std::vector<uint16_t> made;
  for (const uint16_t id : variables_of(plan, dif::Scope::global))
    if (globals_.contains(id)) made.push_back(id);
  return made;
}

// Nothing: what it does to variables cannot be told from the rest, or dvm may find another value in a global by then.
std::optional<ClauseRecordPlan> SiteClauses::record_of(const Ecb& ecb, const ProbeEcbs& probe, const CaptureNeeds& needs) const {
  const EcbPlan& plan = *ecb.plan;
  const IsKept is_kept = [&](const dif::Variable& one) { return is_seen_by_others(one, ecb, probe); };
  if (plan.predicate && changes(plan.difos.front().difo(), is_kept)) return {};
  const IsKept is_global = [&](const dif::Variable& one) { return one.scope == dif::Scope::global && kept_.contains(one.id); };
  const bool changes_others = !changing_values(plan, is_kept).empty(), changes_global = changes(plan, is_global);
  if ((changes_others || changes_global) && !globals_of(plan).empty()) return {};
  if (changes_global && depends_on_cpu(plan, is_global)) return {};
  if (changes_others && !std::all_of(plan.actions.begin(), plan.actions.end(), only_records)) return {};
  ClauseRecordPlan made{ecb.epid, needs};
  made.ends_run = ends_run(plan);
  made.strsize = static_cast<uint32_t>(plan.strsize);
  made.values = changing_values(plan, [&](const dif::Variable& one) { return is_kept(one) || is_global(one); });
  add_variables(plan, is_kept, made.variables);
  return made;
}

// Nothing: dvm may find another value in a global by then.
std::optional<ClauseRecordPlan> SiteClauses::fault_of(const Ecb& ecb, const ProbeEcbs& probe, const CaptureNeeds& needs) const {
  if (!globals_of(*ecb.plan).empty()) return {};
  ClauseRecordPlan made{ecb.epid, needs};
  // dvm does not come to the assignment of a string behind the fault.
  add_variables(
      *ecb.plan,
      [&](const dif::Variable& one) {
        const bool is_needed = one.type.kind != dif::TypeKind::string || is_loaded(*ecb.plan, one);
        return one.scope != dif::Scope::global && is_needed && is_seen_by_others(one, ecb, probe);
      },
      made.variables);
  return made;
}

bool SiteClauses::are_shared(const ProbeEcbs& probe) const {
  const std::set<uint16_t> its = shared_by(probe);
  return std::any_of(its.begin(), its.end(), [this](uint16_t variable) { return in_dvm_.contains(variable); });
}

InDvm SiteClauses::add(const EcbPlan& plan, SiteClause& to) const {
  size_t difo = 0;
  const auto value = [&](const ValuePlan& its) {
    return SiteValue{&plan.difos[difo++].difo(), its.type,
                     is_own_stack(its) ? its.size / 8 - 1 : 0};  // its first word is the pid
  };
  if (plan.predicate) {
    to.predicate = value(*plan.predicate);
    to.predicate->type.size = sizeof(uint64_t);  // conditions use all bits
    if (is_false(*to.predicate->difo)) return InDvm::nothing;
  }
  if (plan.actions.empty() || plan.record_size != 0 || plan.speculates) return InDvm::action;
  for (const ActionPlan& action : plan.actions) {
    const EnabledAggregation* aggregation = enabling_.aggregation(action.aggregation);
    if (action.kind != dif::Action::expression && aggregation == nullptr) return InDvm::action;
    const auto values = action.values.begin() + action.key_count;
    if (std::any_of(action.values.begin(), values, is_no_key) || std::any_of(values, action.values.end(), needs_dvm))
      return InDvm::type;
    if (aggregation == nullptr) {
      SiteValue its = value(action.values.front());
      if (stores_text(*its.difo)) its.type = text_type(plan);
      to.actions.emplace_back(its);
      continue;
    }
    const size_t arguments = action.values.size() - action.key_count;
    if (arguments > 1) return InDvm::increment;
    SiteAggregation its;
    for (unsigned i = 0; i < action.key_count; i++) its.keys.push_back(value(action.values[i]));
    if (arguments == 1) its.value = value(action.values.back());
    its.function = action.kind;
    its.aggregation = action.aggregation;
    its.parameters = aggregation->desc.parameters;
    its.words = aggregation->words;
    its.initial = aggregation->function->initial;
    its.strsize = static_cast<uint32_t>(plan.strsize);
    to.actions.emplace_back(std::move(its));
  }
  return InDvm::nothing;
}

}  // namespace dvm::runtime
