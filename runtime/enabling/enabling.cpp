// Clauses to ECBs: verify, prepare, lay out. Tested by tests/unit/runtime/enabling_test.cpp.

#include "runtime/enabling/enabling.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <variant>

#include "dvm/dif/action.h"
#include "dvm/dif/destructive.h"
#include "runtime/probe/actions.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kMostRecord = 1u << 30;
constexpr uint32_t kMostStackFrames = 65536;
constexpr uint64_t kMostVariables = 1u << 26;  // bytes of variables that are structures, all together

struct Maker {
  const dif::Options& options;
  vm::CostPolicy policy;
};

// "dt_clause_2 (x.d line 7)"
std::string where(unsigned clause, const dif::SourcePosition& position) {
  std::string text = fmt::format("dt_clause_{}", clause);
  if (position.line != 0) text += fmt::format(" ({} line {})", position.file, position.line);
  return text;
}

Error unverified(const std::vector<vm::VerifyError>& errors) {
  std::string text = "the verifier rejects its DIF";
  if (!errors.empty()) text += fmt::format(": instruction {}: {}", errors.front().pc, errors.front().message);
  if (errors.size() > 1) text += fmt::format(" (and {} more)", errors.size() - 1);
  return {text};
}

Result<uint32_t> size_of_value(const dif::DataType& type, const dif::Options& options) {
  switch (type.kind) {
    case dif::TypeKind::none:
      return 0u;
    case dif::TypeKind::string:
      return static_cast<uint32_t>(std::min<int64_t>(options[dif::Option::strsize], kMostRecord) + 1);
    case dif::TypeKind::bytes:
      if (type.size == 0 || type.size > kMostRecord)
        return Error{fmt::format("a value of {} bytes cannot be recorded", type.size)};
      return type.size;
    case dif::TypeKind::integer:
      if (type.size > 8 || !std::has_single_bit(type.size))
        return Error{fmt::format("there is no integer of {} bytes", type.size)};
      return type.size;
  }
  return Error{"a value of unknown type cannot be recorded"};
}

// Whether a variable of the script is among its operands that may hold no string.
bool loads_string(const dif::Difo& difo) {
  return std::any_of(difo.variables.begin(), difo.variables.end(), [](const dif::Variable& variable) {
    return variable.id >= dif::kFirstUserVariable && variable.type.kind == dif::TypeKind::string;
  });
}

Result<Value> make_value(const dif::Difo& difo, const Maker& maker) {
  auto verified = vm::verify(difo);
  if (auto* errors = std::get_if<std::vector<vm::VerifyError>>(&verified)) return unverified(*errors);
  Result<uint32_t> size = size_of_value(difo.result, maker.options);
  if (!size) return size.error();
  Value value;
  value.type = difo.result;
  value.size = *size;
  value.may_be_null = loads_string(difo);
  auto& ready = std::get<vm::VerifiedDifo>(verified);
  if (maker.policy != vm::CostPolicy::none) value.timed = vm::prepare_interp(ready, vm::CostPolicy::time);
  value.difo = vm::prepare_interp(std::move(ready), maker.policy);
  return value;
}

dif::Difo nothing() {
  dif::Difo difo;
  difo.text = {dif::Instruction::registers(dif::Opcode::ret, 0, 0, 0)};
  return difo;
}

Result<Value> make_value(const dif::RecDesc& desc, const Maker& maker) {
  const bool is_stack = dif::is_stack(desc.made_by);
  Result<Value> value = make_value(is_stack ? nothing() : desc.difo, maker);
  if (!value || desc.made_by == dif::Action::expression) return value;
  if (!is_stack && !dif::is_user_symbol(desc.made_by)) return Error{"it records what dvm cannot make"};
  if (desc.frames > kMostStackFrames) return Error{fmt::format("a stack of {} frames is too large", desc.frames)};
  value->made_by = desc.made_by;
  value->size = 8 * (1 + (is_stack ? desc.frames : 1));
  value->type = {dif::TypeKind::bytes, false, false, value->size, ""};
  return value;
}

// Stacks of no given depth have that of the options, and none is deeper than maxframes.
void set_frames(dif::Program& program, const dif::Options& options) {
  for (dif::EcbDesc& clause : program.clauses)
    for (dif::ActDesc& action : clause.actions)
      for (dif::RecDesc& desc : action.args) {
        const bool is_user = desc.made_by != dif::Action::stack;
        if (!dif::is_stack(desc.made_by)) continue;
        if (desc.frames == 0)
          desc.frames = static_cast<uint32_t>(options[is_user ? dif::Option::ustackframes : dif::Option::stackframes]);
        desc.frames = std::min(desc.frames, static_cast<uint32_t>(options[dif::Option::maxframes]));
      }
}

// Gives every value its place; returns the record's size, or 0 if it would be absurd.
uint32_t lay_out(std::vector<Action>& actions) {
  uint64_t at = sizeof(RecordHeader);
  for (Action& action : actions) {
    if (action.aggregation || !dif::keeps_values(action.kind)) continue;
    for (Value& value : action.values) {
      uint64_t alignment = value.type.kind == dif::TypeKind::string ? 1 : value.type.by_ref() ? 8 : std::max(value.size, 1u);
      at = (at + alignment - 1) / alignment * alignment;
      value.offset = static_cast<uint32_t>(at);
      at += value.size;
      if (at > kMostRecord) return 0;
    }
  }
  return static_cast<uint32_t>((at + 7) & ~uint64_t{7});
}

bool leaves_record(const dif::ActDesc& action) {
  const dif::ActionInfo* info = dif::find_action(action.kind);
  return info && info->when != dif::ActionTime::probe;
}

RecordAction timed_function(const dif::ActDesc& desc, bool is_keyless_count) {
  return is_keyless_count ? record_keyless_count<TimedDif> : record_function<TimedDif>(desc.kind);
}
RecordAction plain_function(const dif::ActDesc& desc, bool is_keyless_count) {
  return is_keyless_count ? record_keyless_count<Unaccounted> : record_function<Unaccounted>(desc.kind);
}

// Whether one of the arguments of an action is a value that it cannot do without.
bool wants_value(const dif::ArgumentList& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const dif::Argument& argument) {
    const bool is_value = argument.type != dif::ArgumentType::format && argument.type != dif::ArgumentType::aggregation &&
                          argument.type != dif::ArgumentType::formatted;
    return is_value && !argument.is_optional;
  });
}

// What the description promises must hold, whoever made it: nothing later checks it again.
Status check_arguments(const dif::ActDesc& desc) {
  const dif::ActionInfo* info = dif::find_action(desc.kind);
  if (info && desc.key_count != 0) return Error{fmt::format("{}( ) has no keys", info->name)};
  if (info && wants_value(info->arguments) && desc.args.empty())
    return Error{fmt::format("{}( ) lacks its argument", info->name)};
  return {};
}

Status check_variables(const dif::Program& program) {
  uint64_t bytes = 0;
  for (const dif::Variable& variable : program.variables)
    if (variable.type.kind == dif::TypeKind::bytes) bytes += variable.type.size;
  if (bytes > kMostVariables) return Error{fmt::format("its variables are too large: {} bytes", bytes)};
  return {};
}

Status check_aggregating(const dif::ActDesc& desc, const Aggregation* aggregation) {
  const AggregateFunction* function = find_aggregate(desc.kind);
  if (function == nullptr) return {};
  if (aggregation == nullptr) return Error{"it names an aggregation that the program does not declare"};
  if (aggregation->desc.function != desc.kind) return Error{"it aggregates by another function than its aggregation's"};
  if (desc.key_count != aggregation->desc.keys.size()) return Error{"its keys are not those of its aggregation"};
  size_t values = desc.args.size() < desc.key_count ? SIZE_MAX : desc.args.size() - desc.key_count;
  size_t most = function->values + (dif::find_aggregation(desc.kind)->histogram ? 1 : 0);
  if (values < function->values || values > most) return Error{"its aggregating function has a wrong number of arguments"};
  for (size_t i = 0; i < desc.args.size(); i++) {
    const dif::DataType& type = desc.args[i].difo.result;
    if (i < desc.key_count && desc.args[i].made_by != dif::Action::expression) continue;
    if (type.kind == dif::TypeKind::none || (i >= desc.key_count && type.by_ref()))
      return Error{"it aggregates what is no value"};
    if (i < desc.key_count && !(type.kind == aggregation->desc.keys[i].kind && type.size == aggregation->desc.keys[i].size))
      return Error{"its keys have other types than those of its aggregation"};
  }
  return {};
}

size_t key_bytes(const Value& value) {
  if (dif::is_stack(value.made_by)) return value.size + 8;
  return value.type.by_ref() ? (value.size + 7) & ~size_t{7} : 8;
}

// What the compiler cannot know of keys that are made of a firing.
void note_keys(Action& action) {
  dif::AggregationDesc& desc = action.aggregation->desc;
  desc.key_makers.resize(desc.keys.size());
  for (unsigned i = 0; i < action.key_count; i++) {
    const Value& key = action.values[i];
    desc.key_makers[i] = key.made_by;
    if (key.made_by != dif::Action::expression) desc.keys[i] = key.type;
  }
}

bool is_outliving(const Probe& probe) {
  return std::holds_alternative<InternalSite>(probe.site) && (probe.name == "END" || probe.name == "ERROR");
}

// It runs DIF, or can fault without.
bool needs_machine(const Ecb& ecb) {
  return ecb.predicate || std::any_of(ecb.actions.begin(), ecb.actions.end(),
                                      [](const Action& a) { return !a.values.empty() || a.kind == dif::Action::stop; });
}

}  // namespace

// All that one add() makes, before any of it counts.
struct Enabling::Draft {
  std::deque<dif::Program> program;
  std::deque<Aggregation> aggregations;
  std::deque<Ecb> ecbs;

  Aggregation* find(uint32_t id) {
    for (Aggregation& aggregation : aggregations)
      if (aggregation.desc.id == id) return &aggregation;
    return nullptr;
  }
  Status add_aggregations(Enabling& enabling);
  Status add_clause(Enabling& enabling, unsigned clause, const dif::EcbDesc& desc, const Matches& matches, const Maker& maker);
  Result<Ecb> make_ecb(Enabling& enabling, const dif::EcbDesc& desc, const Maker& maker);
  Result<Action> make_action(Enabling& enabling, const dif::ActDesc& desc, const Maker& maker);
};

Status Enabling::Draft::add_aggregations(Enabling& enabling) {
  for (const dif::AggregationDesc& desc : program.front().aggregations) {
    if (enabling.aggregation(desc.id)) continue;  // shared by the programs of one command
    Aggregation live;
    live.desc = desc;
    live.function = find_aggregate(desc.function);
    live.words = aggregation_words(desc.function, desc.parameters);
    if (live.function == nullptr || live.words == 0)
      return Error{fmt::format("@{} has no function or one with impossible parameters", desc.name)};
    aggregations.push_back(std::move(live));
  }
  return {};
}

Result<Action> Enabling::Draft::make_action(Enabling& enabling, const dif::ActDesc& desc, const Maker& maker) {
  Action action;
  action.kind = desc.kind;
  action.desc = &desc;
  action.key_count = desc.key_count;
  for (uint32_t id : desc.aggregations) {
    action.aggregation = find(id) ? find(id) : enabling.aggregation(id);
    if (action.aggregation == nullptr) return Error{"it names an aggregation that the program does not declare"};
  }
  if (!dif::find_aggregation(desc.kind)) action.aggregation = nullptr;
  if (Status sound = check_arguments(desc); !sound) return sound.error();
  if (Status sound = check_aggregating(desc, action.aggregation); !sound) return sound.error();
  for (const dif::RecDesc& arg : desc.args) {
    Result<Value> value = make_value(arg, maker);
    if (!value) return value.error();
    action.values.push_back(std::move(*value));
  }
  if (action.aggregation) note_keys(action);
  bool is_keyless_count = desc.kind == dif::Action::agg_count && action.values.empty();
  action.run = plain_function(desc, is_keyless_count);
  action.run_timed = timed_function(desc, is_keyless_count);
  if (action.run == nullptr) return Error{"it has an action that dvm does not have"};
  return action;
}

Result<Ecb> Enabling::Draft::make_ecb(Enabling& enabling, const dif::EcbDesc& desc, const Maker& maker) {
  Ecb ecb;
  ecb.desc = &desc;
  if (desc.predicate) {
    Result<Value> predicate = make_value(desc.predicate->difo, maker);
    if (!predicate) return predicate.error();
    ecb.predicate = std::move(*predicate);
  }
  for (const dif::ActDesc& act : desc.actions) {
    Result<Action> action = make_action(enabling, act, maker);
    if (!action) return action.error();
    ecb.actions.push_back(std::move(*action));
  }
  uint32_t size = lay_out(ecb.actions);
  if (size == 0) return Error{"its record would be too large"};
  bool records = desc.actions.empty() || std::any_of(desc.actions.begin(), desc.actions.end(), leaves_record);
  ecb.record_size = records ? size : 0;
  ecb.speculates = std::any_of(desc.actions.begin(), desc.actions.end(),
                               [](const dif::ActDesc& action) { return action.kind == dif::Action::speculate; });
  return ecb;
}

Status Enabling::Draft::add_clause(Enabling& enabling, unsigned clause, const dif::EcbDesc& desc, const Matches& matches,
                                   const Maker& maker) {
  std::vector<const Probe*> matched;  // a probe that several descriptions of the clause match has its ECB once each, as in DTrace
  for (const dif::ProbeDesc& probe : desc.probes)
    for (const Probe* match : matches(probe)) matched.push_back(match);
  for (const Probe* probe : matched) {
    Result<Ecb> ecb = make_ecb(enabling, desc, maker);
    if (!ecb) return Error{fmt::format("could not enable {}: {}", where(clause, desc.position), ecb.error().message)};
    ecb->clause = clause;
    ecb->probe = probe;
    ecbs.push_back(std::move(*ecb));
  }
  return {};
}

Status Enabling::add(const dif::Program& program, const Matches& matches, const dif::Options& options, vm::CostPolicy policy) {
  Draft draft;
  draft.program.push_back(program);
  set_frames(draft.program.front(), options);
  Maker maker{options, policy};
  if (Status status = check_variables(program); !status) return status;
  if (Status status = draft.add_aggregations(*this); !status) return status;
  unsigned clause = clauses_;
  for (const dif::EcbDesc& desc : draft.program.front().clauses)
    if (Status status = draft.add_clause(*this, clause++, desc, matches, maker); !status) return status;
  commit(std::move(draft));
  return {};
}

Status Enabling::extend(const Matches& matches, const dif::Options& options, vm::CostPolicy policy) {
  Draft draft;
  Maker maker{options, policy};
  unsigned clause = 0;
  for (const dif::Program& program : programs_)
    for (const dif::EcbDesc& desc : program.clauses)
      if (Status status = draft.add_clause(*this, clause++, desc, matches, maker); !status) return status;
  commit(std::move(draft.ecbs));
  return {};
}

std::vector<const dif::ProbeDesc*> Enabling::descriptions() const {
  std::vector<const dif::ProbeDesc*> all;
  for (const dif::Program& program : programs_)
    for (const dif::EcbDesc& clause : program.clauses)
      for (const dif::ProbeDesc& description : clause.probes) all.push_back(&description);
  return all;
}

// Moving a Program keeps its vectors where they are, so what points into it stays good; aggregations move one by one and are
// found again.
void Enabling::commit(Draft&& draft) {
  clauses_ += static_cast<unsigned>(draft.program.front().clauses.size());
  for (const dif::Variable& variable : draft.program.front().variables) {
    auto same = [&](const dif::Variable& v) { return v.id == variable.id && v.scope == variable.scope; };
    if (std::none_of(variables_.begin(), variables_.end(), same)) variables_.push_back(variable);
  }
  programs_.push_back(std::move(draft.program.front()));
  for (Aggregation& aggregation : draft.aggregations) {
    uint32_t id = aggregation.desc.id;
    aggregations_.push_back(std::move(aggregation));
    by_aggregation_[id] = &aggregations_.back();
  }
  commit(std::move(draft.ecbs));
}

void Enabling::commit(std::deque<Ecb>&& ecbs) {
  for (Ecb& ecb : ecbs) {
    for (Action& action : ecb.actions)
      if (action.aggregation) action.aggregation = aggregation(action.aggregation->desc.id);
    ecb.epid = static_cast<Epid>(ecbs_.size() + 1);
    ecbs_.push_back(std::move(ecb));
    Ecb& live = ecbs_.back();
    ProbeEcbs*& probe = by_probe_[live.probe->id];
    if (probe == nullptr) probe = &probes_.emplace_back(ProbeEcbs{live.probe, {}, false, is_outliving(*live.probe)});
    probe->ecbs.push_back(&live);
    probe->needs_machine |= needs_machine(live);
  }
}

const ProbeEcbs* Enabling::find(uint32_t probe_id) const {
  auto it = by_probe_.find(probe_id);
  return it == by_probe_.end() ? nullptr : it->second;
}
ProbeEcbs* Enabling::find(uint32_t probe_id) {
  auto it = by_probe_.find(probe_id);
  return it == by_probe_.end() ? nullptr : it->second;
}

Aggregation* Enabling::aggregation(uint32_t id) {
  auto it = by_aggregation_.find(id);
  return it == by_aggregation_.end() ? nullptr : it->second;
}

std::string_view Enabling::destructive_action() const {
  for (const Ecb& ecb : ecbs_)
    if (const std::string_view name = dif::destructive_part(*ecb.desc); !name.empty()) return name;
  return {};
}

bool Enabling::chills_others() const {
  return std::any_of(ecbs_.begin(), ecbs_.end(), [](const Ecb& ecb) {
    const bool is_own = std::holds_alternative<InternalSite>(ecb.probe->site);
    return !is_own &&
           std::any_of(ecb.actions.begin(), ecb.actions.end(), [](const Action& a) { return a.kind == dif::Action::chill; });
  });
}

uint32_t Enabling::largest_record() const {
  uint32_t largest = 0;
  for (const Ecb& ecb : ecbs_) largest = std::max(largest, ecb.record_size);
  return largest;
}

size_t Enabling::record_bytes(std::string_view own_probe) const {
  size_t bytes = 0;
  for (const Ecb& ecb : ecbs_)
    if (std::holds_alternative<InternalSite>(ecb.probe->site) && ecb.probe->name == own_probe) bytes += ecb.record_size;
  return bytes;
}

size_t Enabling::largest_key() const {
  size_t largest = 0;
  for (const Ecb& ecb : ecbs_)
    for (const Action& action : ecb.actions) {
      size_t key = 0;
      for (unsigned i = 0; i < action.key_count; i++) key += key_bytes(action.values[i]);
      largest = std::max(largest, key);
    }
  return largest;
}

}  // namespace dvm::runtime
