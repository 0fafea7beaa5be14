// Clauses to plans and code, and those to ECBs. Tested by tests/unit/runtime/enabling_test.cpp.

#include "runtime/enabling/enabling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "dvm/dif/action.h"
#include "dvm/dif/destructive.h"
#include "dvm/vm/engine.h"
#include "runtime/probe/enter.h"
#include "runtime/probe/prepare.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostVariables = 1u << 26;  // bytes of variables that are structures, all together

// "dt_clause_2 (x.d line 7)"
std::string where(unsigned clause, const dif::SourcePosition& position) {
  std::string text = fmt::format("dt_clause_{}", clause);
  if (position.line != 0) text += fmt::format(" ({} line {})", position.file, position.line);
  return text;
}

Status check_variables(const dif::Program& program) {
  uint64_t bytes = 0;
  for (const dif::Variable& variable : program.variables)
    if (variable.type.kind == dif::TypeKind::bytes) bytes += variable.type.size;
  if (bytes > kMostVariables) return Error{fmt::format("its variables are too large: {} bytes", bytes)};
  return {};
}

// What the compiler cannot know of keys that are made of a firing.
void note_keys(const ActionPlan& action, dif::AggregationDesc& desc) {
  desc.key_makers.resize(desc.keys.size());
  for (unsigned i = 0; i < action.key_count; i++) {
    const ValuePlan& key = action.values[i];
    desc.key_makers[i] = key.made_by;
    if (key.made_by != dif::Action::expression) desc.keys[i] = key.type;
  }
}

bool is_outliving(const Probe& probe) { return is_own(probe, "END") || is_own(probe, "ERROR"); }

// Words of option kind engine are "auto" and then the names of engines.
const vm::Engine& first_engine(const dif::Options& options) {
  const auto word = static_cast<size_t>(options[dif::Option::engine]);
  return word == 0 ? vm::kUsualEngine : vm::kEngines[word - 1];
}

bool chills(const EcbPlan& plan) {
  return std::any_of(plan.actions.begin(), plan.actions.end(), [](const ActionPlan& a) { return a.kind == dif::Action::chill; });
}

}  // namespace

// All that one add() plans, before any of it counts.
struct Enabling::Draft {
  explicit Draft(Enabling& e) : enabling(e) {}

  Enabling& enabling;
  std::deque<EnabledAggregation> aggregations;
  std::vector<EcbPlan> plans;
  std::vector<dif::Variable> variables;

  EnabledAggregation* find(uint32_t id) {
    const auto same = [id](const EnabledAggregation& aggregation) { return aggregation.desc.id == id; };
    for (auto* all : {&aggregations, &enabling.aggregations_})
      if (const auto it = std::find_if(all->begin(), all->end(), same); it != all->end()) return &*it;
    return nullptr;
  }
  Status add_aggregations(const dif::Program& program);
  Status add_clause(const dif::EcbDesc& desc, const dif::Options& options);
};

Status Enabling::Draft::add_aggregations(const dif::Program& program) {
  for (const dif::AggregationDesc& desc : program.aggregations) {
    if (find(desc.id)) continue;  // shared by the programs of one command
    EnabledAggregation live;
    live.desc = desc;
    live.function = find_aggregate(desc.function);
    live.words = aggregation_words(desc.function, desc.parameters);
    live.number = static_cast<uint32_t>(enabling.aggregations_.size() + aggregations.size());
    if (live.function == nullptr || live.words == 0)
      return Error{fmt::format("@{} has no function, or one with invalid parameters", desc.name)};
    aggregations.push_back(std::move(live));
  }
  return {};
}

Status Enabling::Draft::add_clause(const dif::EcbDesc& desc, const dif::Options& options) {
  const auto clause = static_cast<unsigned>(enabling.plans_.size() + plans.size());
  dif::EcbDesc whole = desc;
  set_frames(whole, options);
  const auto find_desc = [this](uint32_t id) {
    const EnabledAggregation* found = find(id);
    return found ? &found->desc : nullptr;
  };
  Result<EcbPlan> plan = make_plan(clause, std::move(whole), find_desc, options);
  if (!plan) return Error{fmt::format("could not enable {}: {}", where(clause, desc.position), plan.error().message)};
  for (const ActionPlan& action : plan->actions)
    if (action.aggregation != 0) note_keys(action, find(action.aggregation)->desc);
  plans.push_back(std::move(*plan));
  return {};
}

Status Enabling::add(const dif::Program& program, const Matches& matches, const dif::Options& options, vm::CostPolicy policy) {
  Draft draft(*this);
  if (Status status = check_variables(program); !status) return status;
  if (Status status = draft.add_aggregations(program); !status) return status;
  for (const dif::EcbDesc& desc : program.clauses)
    if (Status status = draft.add_clause(desc, options); !status) return status;
  draft.variables = program.variables;
  const size_t first = plans_.size();
  vm::write_perf_map(options[dif::Option::perfmap] > 0);
  commit(std::move(draft), policy, first_engine(options));
  for (size_t clause = first; clause < plans_.size(); clause++) enable(clause, matches);
  return {};
}

void Enabling::extend(const Matches& matches) {
  for (size_t clause = 0; clause < plans_.size(); clause++) enable(clause, matches);
}

void Enabling::commit(Draft&& draft, vm::CostPolicy policy, const vm::Engine& engine) {
  for (const dif::Variable& variable : draft.variables) {
    auto same = [&](const dif::Variable& v) { return v.id == variable.id && v.scope == variable.scope; };
    if (std::none_of(variables_.begin(), variables_.end(), same)) variables_.push_back(variable);
  }
  for (EnabledAggregation& aggregation : draft.aggregations) {
    const EnabledAggregation& live = aggregations_.emplace_back(std::move(aggregation));
    by_aggregation_[live.desc.id] = &live;
  }
  for (EcbPlan& plan : draft.plans) {
    plans_.push_back(std::move(plan));
    current_.push_back(&codes_.emplace_back(prepare_code(
        plans_.back(), [this](uint32_t id) { return aggregation(id); }, policy, engine)));
  }
}

// A probe that several descriptions of the clause match has its ECB once each, as in DTrace.
void Enabling::enable(size_t clause, const Matches& matches) {
  const EcbPlan& plan = plans_[clause];
  for (const dif::ProbeDesc& description : plan.desc.probes)
    for (const Probe* probe : matches(description))
      add_ecb({static_cast<Epid>(ecbs_.size() + 1), probe, &plan, current_[clause]});
}

const EcbCode& Enabling::replace_code(size_t clause, EcbCode code) {
  current_[clause] = &codes_.emplace_back(std::move(code));
  for (Ecb& ecb : ecbs_)
    if (ecb.plan == &plans_[clause]) ecb.code = current_[clause], choose_way(*by_probe_[ecb.probe->id]);
  return *current_[clause];
}

void Enabling::add_ecb(const Ecb& ecb) {
  const Ecb& live = ecbs_.emplace_back(ecb);
  ProbeEcbs*& probe = by_probe_[live.probe->id];
  if (probe == nullptr) {
    probe = &probes_.emplace_back();
    probe->probe = live.probe, probe->outlives_exit = is_outliving(*live.probe);
  }
  probe->ecbs.push_back(&live);
  probe->needs_machine |= live.plan->needs_machine;
  choose_way(*probe);
}

std::vector<const dif::ProbeDesc*> Enabling::descriptions() const {
  std::vector<const dif::ProbeDesc*> all;
  for (const EcbPlan& plan : plans_)
    for (const dif::ProbeDesc& description : plan.desc.probes) all.push_back(&description);
  return all;
}

const ProbeEcbs* Enabling::find(uint32_t probe_id) const {
  auto it = by_probe_.find(probe_id);
  return it == by_probe_.end() ? nullptr : it->second;
}

const EnabledAggregation* Enabling::aggregation(uint32_t id) const {
  auto it = by_aggregation_.find(id);
  return it == by_aggregation_.end() ? nullptr : it->second;
}

std::string_view Enabling::destructive_action() const {
  const EcbPlan* last = nullptr;  // ECBs of a clause are next to each other
  for (const Ecb& ecb : ecbs_) {
    if (std::exchange(last, ecb.plan) == ecb.plan) continue;
    if (const std::string_view name = dif::destructive_part(ecb.plan->desc); !name.empty()) return name;
  }
  return {};
}

bool Enabling::chills_others() const {
  return std::any_of(ecbs_.begin(), ecbs_.end(), [](const Ecb& ecb) { return !is_own(*ecb.probe) && chills(*ecb.plan); });
}

uint32_t Enabling::largest_record() const {
  uint32_t largest = 0;
  for (const Ecb& ecb : ecbs_) largest = std::max(largest, ecb.plan->record_size);
  return largest;
}

size_t Enabling::record_bytes(std::string_view own_probe) const {
  size_t bytes = 0;
  for (const Ecb& ecb : ecbs_)
    if (is_own(*ecb.probe, own_probe)) bytes += ecb.plan->record_size;
  return bytes;
}

size_t Enabling::largest_key() const {
  size_t largest = 0;
  for (const Ecb& ecb : ecbs_) largest = std::max(largest, ecb.plan->key_bytes);
  return largest;
}

size_t Enabling::largest_entry() const {
  size_t largest = 0;
  for (const Ecb& ecb : ecbs_)
    for (const ActionPlan& action : ecb.plan->actions)
      if (const EnabledAggregation* made = aggregation(action.aggregation))
        largest = std::max(largest, ecb.plan->key_bytes + made->words * sizeof(uint64_t));
  return largest;
}

}  // namespace dvm::runtime
