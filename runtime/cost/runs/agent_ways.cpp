// Covered by tests/unit/runtime/agent_ways_test.cpp.

#include "runtime/cost/runs/agent_ways.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <variant>

#include "dvm/dif/action.h"
#include "dvm/dif/variable.h"
#include "runtime/agent/inside/clause_steps.h"
#include "runtime/agent/target_check.h"
#include "runtime/agent/text_code.h"
#include "runtime/backend/local/live.h"
#include "runtime/backend/local/site_clauses.h"
#include "runtime/code/displaced.h"
#include "runtime/code/module_code.h"
#include "runtime/cost/model.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/agent/foresee.h"
#include "runtime/instrument/agent/memory_callers.h"
#include "runtime/instrument/agent/record_program.h"
#include "runtime/instrument/agent/tail_finder.h"
#include "runtime/instrument/agent/text_key.h"
#include "runtime/instrument/capture.h"
#include "runtime/process/process.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

constexpr int32_t kNoProcess = INT32_MAX;

bool is_in_process(const dif::ProbeDesc& description) {
  const std::string source = source_of(description);
  return !is_own_probe(description) && (source == "pid" || source == "usdt");
}

// Entry and return are known by name, all else of the provider pid is an instruction.
UprobeSite made_up_site(const dif::ProbeDesc& description) {
  UprobeSite site{.path = "", .is_return = description.name == "return", .pid = kNoProcess};
  if (source_of(description) == "pid" && description.name != "entry" && !site.is_return) site.inside = Operands{};
  return site;
}

// Whether a jump has room, by the code of the function.
class Windows {
 public:
  // Empty: it has.
  std::string_view refusal_of(const Probe& probe) {
    const auto* site = std::get_if<UprobeSite>(&probe.site);
    if (site == nullptr) return "it is not a probe in a process";
    const auto code = files_.open(site->path);
    if (code == nullptr || site->size == 0 || site->inside) return {};
    if (code->is_go()) return "code of Go may be interrupted anywhere, and continue elsewhere";
    if (site->is_return) return tails_.find(site->path, *code, {site->offset, site->size, site->alone}).refusal;
    const CodeBytes bytes = code->bytes(site->offset, site->size);
    return find_window(bytes, code->decode({site->offset, site->size, site->alone}), 0).refusal;
  }

  // True of a return of a function that is known to return, by instructions that are all known.
  bool knows_exits(const UprobeSite& site) {
    const auto code = files_.open(site.path);
    if (code == nullptr || code->is_go() || !site.is_return || site.size == 0) return false;
    const TailExits& exits = tails_.find(site.path, *code, {site.offset, site.size, site.alone});
    return exits.refusal.empty() && !(exits.returns.empty() && exits.others.empty());
  }

 private:
  ModuleCodes files_;
  TailFinder tails_;
};

// Why memory of processes is read by system calls, as far as their code decides.
class Processes {
 public:
  // Of the first such process with a probe of the description. Empty: there is none.
  std::string why_by_calls(const MatchedProbes& matched, const std::string& description) {
    const auto known = matched.find(description);
    if (known == matched.end()) return {};
    for (const Probe* probe : known->second)
      if (const auto* site = std::get_if<UprobeSite>(&probe->site))
        if (const std::string& why = why_by_calls(site->pid); !why.empty()) return why;
    return {};
  }

 private:
  const std::string& why_by_calls(pid_t pid) {
    const auto [known, is_new] = known_.try_emplace(pid);
    if (!is_new) return known->second;
    if (const auto mappings = mappings_of(pid)) known->second = find_memory_callers(pid, *mappings, files_, {}).unproven;
    return known->second;
  }

  std::map<pid_t, std::string> known_;
  ModuleCodes files_;
};

Row stub_of(const dif::ProbeDesc& description, const UprobeSite& site) {
  if (source_of(description) == "usdt") return "agent/stub/usdt"_row;
  return site.is_return ? "agent/stub/return"_row : "agent/stub/entry"_row;
}

bool uses(const dif::Difo& difo, dif::Scope scope) {
  return std::ranges::find(difo.variables, scope, &dif::Variable::scope) != difo.variables.end();
}
bool reads_time(const dif::Difo& difo) {
  return std::ranges::find(difo.text, static_cast<unsigned>(dif::BuiltIn::timestamp), dif::built_in_of) != difo.text.end();
}

// One such change is a locked instruction (runtime/instrument/agent/global_code.h).
bool changes_global(const dif::Difo& difo) {
  return std::ranges::any_of(difo.text, [](dif::Instruction in) {
    return dif::has_format(in, dif::Format::stv) && dif::info(in.opcode()).scope == dif::Scope::global;
  });
}

// The rows of a clause in the traced thread.
class ClauseUses {
 public:
  // has_global: a clause of the firing has changed a global variable.
  ClauseUses(const Probe& probe, const PredictOptions& how, bool& has_global)
      : probe_(probe), how_(how), has_global_(has_global) {}

  // has_record: dvm runs the actions. The thread only changes the variables that the record has.
  SiteUses of(const SiteClause& clause, bool has_record) {
    if (clause.predicate) add(*clause.predicate, made_.predicate);
    if (has_record)
      for (const SiteValue& value : clause.record->values) add(value, made_.actions);
    else
      add_actions(clause);
    if (has_variables_) (clause.predicate ? made_.predicate : made_.actions).push_back({"agent/site/variables"_row});
    return std::move(made_);
  }

 private:
  void add_actions(const SiteClause& clause) {
    for (const auto& action : clause.actions)
      if (const auto* value = std::get_if<SiteValue>(&action))
        add(*value, made_.actions);
      else
        add(std::get<SiteAggregation>(action));
  }
  void add(const SiteValue& value, std::vector<RowUse>& to) {
    if (const auto text = assigned_text(*value.difo, &probe_, value.type.size)) {
      to.push_back({"agent/site/assigned_string"_row});
      has_variables_ = true;
      return void(add_read(text->value, to));
    }
    to.push_back({"agent/site/expression"_row, static_cast<double>(value.difo->text.size())});
    const bool is_time = reads_time(*value.difo), has_locals = uses(*value.difo, dif::Scope::clause);
    if (is_time && !std::exchange(has_time_, true)) to.push_back({"agent/site/time"_row});
    if (changes_global(*value.difo))
      to.push_back({std::exchange(has_global_, true) ? "agent/site/further_global"_row : "agent/site/global"_row});
    has_variables_ |= uses(*value.difo, dif::Scope::thread);
    is_of_time_ = is_time || (has_time_in_locals_ && has_locals);
    has_time_in_locals_ |= is_time && has_locals;
  }
  void add(const SiteAggregation& aggregation) {
    const auto own = static_cast<ptrdiff_t>(made_.actions.size());
    made_.actions.push_back({row_of(aggregation.function)});
    if (aggregation.value) add(*aggregation.value, made_.actions);
    if (aggregation.value && is_of_time_) {
      if (dif::find_aggregation(aggregation.function)->histogram)
        made_.actions.push_back({"agent/site/bucket"_row});
      else
        made_.actions.erase(made_.actions.begin() + own);  // nothing waits for the result, while the next time is read
    }
    bool has_keys = false;
    is_called_ = has_text_ = false, text_bytes_ = 0;
    for (const SiteValue& key : aggregation.keys) {
      has_keys |= add_key(key, aggregation.strsize);
      if (key.frames != 0 && &key != &aggregation.keys.back())  // a call makes it (has_stack_code())
        made_.actions.push_back({"agent/site/called_stack"_row, frames_of(key)});
    }
    if (is_called_) made_.actions.push_back({"agent/site/long_string"_row, text_bytes_});
    if (has_keys) made_.actions.push_back({"key/any"_row});
    add_update(made_.updates, aggregation, probe_, how_.sizes.expected, how_.sizes.frames);
  }
  // False: it costs nothing, because it is constant, or an integer that is there before the time.
  bool add_key(const SiteValue& key, uint32_t strsize) {
    if (key.frames != 0) {
      is_called_ |= has_text_;
      return add_stack(frames_of(key)), true;
    }
    if (key.type.kind == dif::TypeKind::string) return add_text(key, strsize);
    is_called_ |= has_text_;
    const bool is_of_time = reads_time(*key.difo) || (has_time_in_locals_ && uses(*key.difo, dif::Scope::clause));
    if (has_time_ && !is_of_time) return false;
    made_.actions.push_back({"key/integer"_row});
    add(key, made_.actions);
    return true;
  }
  double frames_of(const SiteValue& key) const { return std::min<double>(how_.sizes.frames, key.frames); }
  // The processor walks frames that it has just entered while they return. Those that stay do so for nothing.
  void add_stack(double frames) {
    const double entered = std::min(how_.returns, frames);
    made_.actions.push_back({"action/ustack"_row, frames - entered});
    if (entered > 0) made_.actions.push_back({"agent/site/entered_frame"_row, entered});
  }
  bool add_text(const SiteValue& key, uint32_t strsize) {
    const auto text = text_key_of(*key.difo, &probe_, strsize);
    if (!text || text->kind == TextKey::Kind::constant) return false;
    is_called_ |= std::exchange(has_text_, true) || text->kind == TextKey::Kind::variable;
    const double bytes = add_read(*text, made_.actions);
    is_called_ |= bytes > kShortText;
    text_bytes_ += bytes;
    return true;
  }

  // Returns its bytes, unless it is constant or the name of the thread.
  double add_read(const TextKey& text, std::vector<RowUse>& to) {
    if (text.kind == TextKey::Kind::name_of_thread) to.push_back({"agent/site/name"_row});
    if (text.kind == TextKey::Kind::copied) made_.strings++, made_.copied += how_.heap;
    if (text.kind != TextKey::Kind::copied && text.kind != TextKey::Kind::variable) return 0;
    const double bytes = std::min<double>(how_.sizes.expected, text.most + 1.0);
    to.push_back({"key/string"_row, bytes});
    return bytes;
  }

  const Probe& probe_;
  const PredictOptions& how_;
  bool& has_global_;
  SiteUses made_;
  bool has_variables_ = false;
  bool has_time_ = false;            // a clause reads the time once
  bool has_time_in_locals_ = false;  // clause-local variables may depend on it
  bool is_of_time_ = false;          // the last value
  // Of the keys of an aggregation: a call makes them, since one is behind a string (words_of_text()); one is a string.
  bool is_called_ = false, has_text_ = false;
  double text_bytes_ = 0;
};

struct Planned {
  dif::ProbeDesc description;
  SiteClauseList clauses;
  ForeseenProbe probe;  // points to the clauses
};

class WayFinder {
 public:
  WayFinder(const dif::Options& options, const MatchedProbes& matched, const PredictOptions& how)
      : options_(options), matched_(matched), how_(how) {}

  Result<AgentWays> find(std::span<const dif::Program* const> programs) {
    std::map<std::string, dif::ProbeDesc> descriptions;
    const auto matches = [&](const dif::ProbeDesc& description) {
      descriptions.try_emplace(text_of(description), description);
      return std::vector{probe_of(description)};
    };
    for (const dif::Program* program : programs)
      if (Status added = enabling_.add(*program, matches, options_, vm::CostPolicy::none); !added) return added.error();
    const SiteClauses site_clauses(enabling_, options_);
    for (const auto& [text, description] : descriptions)
      if (is_in_process(description)) plan(description, site_clauses);
    std::vector<ForeseenProbe> probes;
    std::ranges::transform(planned_, std::back_inserter(probes), &Planned::probe);
    const std::vector<Foreseen> all = foresee(probes, options_[dif::Option::followfork] > 0, site_clauses.reason_to_share());
    AgentWays ways;
    for (size_t i = 0; i < planned_.size(); i++) ways.emplace(text_of(planned_[i].description), way_of(planned_[i], all[i]));
    find_room(ways);
    return ways;
  }

 private:
  // A single thread is assumed. If a rate is not known, it is assumed to be high.
  void find_room(AgentWays& ways) const {
    KeyedUpdates all;
    double firings = 0;
    for (auto& [description, way] : ways) {
      const auto rate = how_.rates.find(description);
      firings = std::max(firings, rate == how_.rates.end() ? INFINITY : rate->second / how_.wake_ups);
      for (SiteUses& one : way.clauses) {
        if (!way.is_at_site) one.updates = {};
        all.count += one.updates.count, all.entry_bytes += one.updates.entry_bytes;
      }
    }
    const double share = share_without_room(all, how_.keys, firings);
    for (auto& [description, way] : ways)
      for (SiteUses& one : way.clauses) one.updates.share = share;
  }

  // A probe for each description.
  const Probe* probe_of(const dif::ProbeDesc& description) {
    const auto [at, is_new] = probes_.try_emplace(text_of(description));
    Probe& probe = at->second;
    if (!is_new) return &probe;
    probe.id = static_cast<uint32_t>(probes_.size());
    probe.provider = description.provider, probe.module = description.module;
    probe.function = description.function, probe.name = description.name;
    if (const auto timer = timer_of(description)) probe.site = *timer;
    if (!is_in_process(description)) return &probe;
    const auto known = matched_.find(at->first);
    const bool is_known = known != matched_.end() && !known->second.empty();
    const auto* site = is_known ? std::get_if<UprobeSite>(&known->second.front()->site) : nullptr;
    probe.site = site ? *site : made_up_site(description);
    return &probe;
  }

  void plan(const dif::ProbeDesc& description, const SiteClauses& site_clauses) {
    const Probe* probe = probe_of(description);
    const ProbeEcbs* ecbs = enabling_.find(probe->id);
    if (ecbs == nullptr) return;
    Planned& one = planned_.emplace_back();
    one.description = description;
    one.clauses = site_clauses.clauses_of(*ecbs);
    one.probe.probe = probe, one.probe.in_dvm = one.clauses.in_dvm;
    one.probe.clauses = one.clauses.clauses, one.probe.globals = one.clauses.globals;
    one.probe.has_thread_variables = site_clauses.has_thread_variables(*ecbs);
    for (const Ecb* ecb : ecbs->ecbs) one.probe.needs |= needs_of(ecb->plan->desc, static_cast<uint32_t>(how_.sizes.most));
    one.probe.by_frame_pointers = follows_frame_pointers(description);
  }

  bool follows_frame_pointers(const dif::ProbeDesc& description) const {
    if (options_[dif::Option::ustackunwind] >= 0) return options_[dif::Option::ustackunwind] == 0;
    const auto known = how_.sources.find(text_of(description));
    return known != how_.sources.end() && std::ranges::none_of(known->second, &SourceShare::copies_stack);
  }

  AgentWay way_of(const Planned& one, const Foreseen& foreseen) {
    AgentWay way;
    const Probe& probe = *one.probe.probe;
    way.stub = stub_of(one.description, std::get<UprobeSite>(probe.site));
    way.is_at_site = foreseen.is_at_site;
    way.reason = runtime::text_of(foreseen.in_dvm);
    if (!way.is_at_site) {
      const LeftRecord record = left_record(one.probe, one.probe.needs);
      way.record_bytes = record.bytes, way.stack_bytes = record.needs.stack_bytes;
    }
    way.is_common = foreseen.is_common, way.is_gated = foreseen.is_gated;
    way.takes_lane = foreseen.takes_lane;
    bool has_global = false;
    for (size_t i = 0; i < one.clauses.clauses.size(); i++) way.clauses.push_back(uses_of(one, foreseen, i, has_global));
    look_for_windows(text_of(one.description), way);
    const bool has_strings = std::ranges::any_of(way.clauses, [](const SiteUses& uses) { return uses.strings > 0; });
    if (has_strings || !one.probe.needs.memory.empty())
      way.by_calls = options_[dif::Option::followfork] > 0 ? "its children are followed"
                                                           : processes_.why_by_calls(matched_, text_of(one.description));
    return way;
  }

  SiteUses uses_of(const Planned& one, const Foreseen& foreseen, size_t number, bool& has_global) const {
    const SiteClause& clause = one.clauses.clauses[number];
    const bool has_record = std::ranges::find(foreseen.records, number) != foreseen.records.end();
    SiteUses uses = ClauseUses(*one.probe.probe, how_, has_global).of(clause, has_record);
    if (has_record) uses.record = clause_record(one, *clause.record);
    if (!has_record && uses.strings > 0 && clause.fault) uses.fault_bytes = clause_record(one, *clause.fault).bytes;
    return uses;
  }

  LeftRecord clause_record(const Planned& one, const ClauseRecordPlan& plan) const {
    LeftRecord record = left_record(one.probe, plan.needs);
    record.bytes += static_cast<double>(sizeof(inside::ClauseRecordHead) + plan.variables.size() * sizeof(uint64_t));
    return record;
  }

  LeftRecord left_record(const ForeseenProbe& one, CaptureNeeds needs) const {
    needs.stack_bytes = copied_stack(one, needs.frames);
    return {bytes_of_record(shape_at(*one.probe), needs), std::move(needs)};
  }

  uint32_t copied_stack(const ForeseenProbe& one, uint32_t frames) const {
    if (one.by_frame_pointers || frames <= known_frames(shape_at(*one.probe).kind)) return 0;
    const int64_t asked = options_[dif::Option::ustackunwind];
    return asked > 0 ? static_cast<uint32_t>(asked) : kUsualStackBytes;
  }

  double bytes_of_record(const SiteShape& shape, CaptureNeeds needs) const {
    needs.thread = true;
    return sizeof(inside::RecordHead) +
           record_bytes(make_agent_layouts(possible_needs(needs, shape), shape), how_.sizes.expected);
  }

  void look_for_windows(const std::string& text, AgentWay& way) {
    const auto known = matched_.find(text);
    if (known == matched_.end() || known->second.empty()) return;
    double taken = 0;
    for (const Probe* probe : known->second) {
      const std::string_view refusal = windows_.refusal_of(*probe);
      if (refusal.empty())
        taken++;
      else
        way.refusal = refusal;
    }
    way.share = taken / static_cast<double>(known->second.size());
  }

  const dif::Options& options_;
  const MatchedProbes& matched_;
  const PredictOptions& how_;
  std::map<std::string, Probe> probes_;  // by description; addresses stay
  Enabling enabling_;
  std::deque<Planned> planned_;  // addresses stay
  Windows windows_;
  Processes processes_;
};

}  // namespace

Result<AgentWays> find_agent_ways(std::span<const dif::Program* const> programs, const dif::Options& options,
                                  const MatchedProbes& matched, const PredictOptions& how) {
  return WayFinder(options, matched, how).find(programs);
}

size_t count_for_agents(std::span<const Refused> probes, const dif::Options& options) {
  const bool by_uretprobes = options[dif::Option::return_] == static_cast<int64_t>(ReturnBy::uretprobe);
  if (names_backend(options) || chooses_agent(options) || by_uretprobes) return 0;
  Windows windows;
  std::map<int32_t, bool> processes;
  const auto allows = [&](int32_t pid) {
    const auto [known, is_new] = processes.try_emplace(pid);
    if (is_new) known->second = !is_gone(pid) && check_target(pid, options[dif::Option::followfork] > 0);
    return known->second;
  };
  return static_cast<size_t>(std::ranges::count_if(probes, [&](const Refused& one) {
    const auto* site = std::get_if<UprobeSite>(&one.probe->site);
    return site != nullptr && allows(site->pid) && windows.knows_exits(*site);
  }));
}

Status add_agent_ways(Handle& handle, std::span<const dif::Program* const> programs, PredictOptions& how) {
  Result<AgentWays> ways = find_agent_ways(programs, handle.options(), matched_in_processes(handle, programs), how);
  if (!ways) return ways.error();
  how.agent = *std::move(ways);
  return {};
}

}  // namespace dvm::runtime
