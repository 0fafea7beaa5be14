// Predictions. Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/predict.h"

#include <fmt/format.h>

#include <algorithm>

#include "dvm/dif/action.h"
#include "dvm/dif/destructive.h"
#include "dvm/vm/body.h"
#include "runtime/cost/agent_cost.h"
#include "runtime/cost/table_uses.h"
#include "runtime/probe/body.h"

namespace dvm::runtime {
namespace {

using IsDifo = bool (*)(const dif::Difo&);  // vm::is_plain, vm::is_light

bool is_all(const dif::ActDesc& action, const dif::RecDesc& value, IsDifo is) {
  const bool is_kept = dif::find_aggregation(action.kind) || dif::keeps_values(action.kind);
  const bool is_number = value.made_by == dif::Action::expression && !value.difo.result.by_ref();
  return (!is_kept || is_number) && is(value.difo);
}

// Whether the machine code of its body is plain, or light, as runtime/probe/body.cpp has it.
bool is_all(const dif::EcbDesc& clause, IsDifo is) {
  if (clause.predicate && !is(clause.predicate->difo)) return false;
  return std::ranges::all_of(clause.actions, [is](const dif::ActDesc& action) {
    const auto is_so = [&](const dif::RecDesc& value) { return is_all(action, value, is); };
    return is_in_body(action.kind) && std::ranges::all_of(action.args, is_so);
  });
}

// Whether a firing starts the machine for it, as the ECB loop has it. A light clause that is alone on its probe does not.
bool starts_machine(const dif::EcbDesc& clause, EngineId engine, bool is_alone) {
  if (engine == EngineId::llvm) return !is_all(clause, is_alone ? vm::is_light : vm::is_plain);
  return clause.predicate || std::ranges::any_of(clause.actions, [](const dif::ActDesc& action) { return !action.args.empty(); });
}

// Whether its machine code tests the predicate before anything is prepared for it.
bool has_gate(const dif::EcbDesc& clause, EngineId engine) {
  return engine == EngineId::llvm && clause.predicate && vm::is_plain(clause.predicate->difo);
}

size_t difos_of(const dif::EcbDesc& clause) {
  size_t difos = clause.predicate ? 1 : 0;
  for (const dif::ActDesc& action : clause.actions) difos += action.args.size();
  return difos;
}

vm::Cost remainder(const vm::Cost& sum, const vm::Cost& part) { return {sum.clocks - part.clocks, sum.spread - part.spread}; }

bool is_of_process(std::string_view source) { return source.starts_with("pid") || source == "usdt"; }

// As far as it decides what is captured of a process.
SiteKind kind_of(std::string_view source) {
  if (is_of_process(source)) return SiteKind::entry;
  return source == "profile" ? SiteKind::timer : SiteKind::tracepoint;
}

// Nothing for timers, and where no trap is.
std::optional<Row> woken_row(const ProbePrediction& probe) {
  if (probe.agent) return std::nullopt;
  if (probe.is_of_process) return "rested/process"_row;
  const bool is_of_thread = probe.source == "syscall" || probe.source == "sched" || probe.source == "sdt";
  return is_of_thread ? std::optional("rested/kernel"_row) : std::nullopt;
}

std::string shares_text(const SourceShares& shares) {
  if (shares.size() == 1) return shares.front().source;
  std::string text;
  for (const SourceShare& one : shares)
    text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * one.share, one.source);
  return text;
}

class Predicting {
 public:
  Predicting(std::span<const dif::Program* const> programs, const vm::Profile& profile, const PredictOptions& options)
      : programs_(programs),
        clauses_(clauses_of(programs)),
        options_(options),
        prices_(profile, options.sizes, options.execution),
        agent_prices_(profile, options.sizes, kInAgent),
        is_in_thread_(prices_.execution().is_in_thread()),
        committed_share_(committed_share(programs, options)) {
    agent_prices_.entered = options.returns;
    for (const dif::Program* program : programs) locals_ += static_cast<double>(dif::count_locals(program->variables));
    // What a commit finds is taken to be a record of each clause that speculates, with room for its longest strings.
    for (const dif::EcbDesc* clause : clauses_)
      if (speculates(*clause)) committed_ += shape_of(*clause, options_.sizes.most, options_).bytes;
  }

  Prediction predict() {
    price_error();
    for (size_t i = 0; i < clauses_.size(); i++)
      for (const dif::ProbeDesc& description : clauses_[i]->probes)
        if (!is_own_probe(description)) add(*clauses_[i], i, description);
    for (ProbePrediction& probe : prediction_.probes) finish(probe);
    if (prediction_.error) count_errors(*prediction_.error);
    const double bytes = options_.wake_ups > 0 ? prediction_.record_rate / options_.wake_ups : 0;
    prediction_.consumer = consumer_cost(prices_, printing_, options_.wake_ups, copy_out(prices_, bytes));
    count_consumer();
    if (!is_in_thread_) count_waiting(), count_wakes();
    prediction_.printing = printing_;
    prediction_.missing = prices_.missing();
    prediction_.missing.insert(agent_prices_.missing().begin(), agent_prices_.missing().end());
    return std::move(prediction_);
  }

 private:
  ClausePrediction price(const dif::EcbDesc& clause, size_t number) {
    ClausePrediction made;
    made.position = clause.position;
    made.number = number;
    made.difos = difos_of(clause);
    const MeasuredClause* measured = options_.measured_of(clause);
    const ClauseCounts instructions = measured ? measured->instructions : ClauseCounts();
    made.is_measured = measured != nullptr;
    made.cost = {clause.predicate.has_value(), probability_of(clause, options_), predicate_cost(prices_, clause, instructions),
                 actions_cost(prices_, clause, committed_, instructions)};
    made.desc = &clause;
    made.record = shape_of(clause, options_.sizes.expected, options_);
    if (speculates(clause)) made.committed = committed_share(clause, committed_share_);
    return made;
  }

  void add(const dif::EcbDesc& clause, size_t number, const dif::ProbeDesc& description) {
    ClausePrediction made = price(clause, number);
    EcbCost& cost = made.cost;
    cost.faults = faults_of(clause, options_);
    if (cost.faults > 0) {
      cost.error = prediction_.error ? prediction_.error->firing.expected : prices_.of("record/error"_row);
      cost.actions.expected += cost.error.times(cost.faults);
    }
    ProbePrediction& probe = probe_of(description);
    probe.needs |= needs_of_clause(clause);
    if (prediction_.error && starts_machine(clause, EngineId::interp, true)) probe.needs |= prediction_.error->needs;
    probe.clauses.push_back(std::move(made));
  }

  // A fault leaves its record, and fires ERROR in the same place. What the clauses of ERROR need is captured there, but for its
  // arguments, which are those of the fault.
  void price_error() {
    ProbePrediction error;
    error.description = "dtrace:::ERROR";
    error.source = "fault";
    for (size_t i = 0; i < clauses_.size(); i++)
      for (const dif::ProbeDesc& description : clauses_[i]->probes)
        if (is_own_probe(description) && description.name == "ERROR") {
          error.clauses.push_back(price(*clauses_[i], i));
          error.needs |= needs_of_clause(*clauses_[i]);
        }
    if (error.clauses.empty()) return;
    error.needs.args = 0;
    error.needs.memory.clear(), error.needs.keeps.clear();
    error.trigger = prices_.of("record/error"_row);
    prepare(error);
    error.firing = firing_cost(error.trigger + error.prepare, costs_of(error));
    prediction_.error = std::move(error);
  }

  // Their rate follows from those of the probes.
  void count_errors(ProbePrediction& error) {
    for (const ProbePrediction& probe : prediction_.probes)
      for (const ClausePrediction& clause : probe.clauses)
        error.rate += probe.rate * clause.cost.probability * clause.cost.faults;
    for (const ClausePrediction& clause : error.clauses)
      count_records(clause, error.rate * clause.cost.probability * clause.committed.value_or(1));
  }

  // A stack that says no size has as many frames as can be had.
  CaptureNeeds needs_of_clause(const dif::EcbDesc& clause) const {
    CaptureNeeds needs = needs_of(clause, static_cast<uint32_t>(options_.sizes.most));
    for (const dif::ActDesc& action : clause.actions)
      for (const dif::RecDesc& value : action.args)
        if (value.frames == 0 && (value.made_by == dif::Action::ustack || value.made_by == dif::Action::stack))
          (value.made_by == dif::Action::stack ? needs.kernel_frames : needs.frames) = kMostFrames;
    return needs;
  }

  ProbePrediction& probe_of(const dif::ProbeDesc& description) {
    const std::string text = text_of(description);
    auto& probes = prediction_.probes;
    const auto found = std::ranges::find(probes, text, &ProbePrediction::description);
    if (found != probes.end()) return *found;
    ProbePrediction made;
    made.description = text;
    made.source = source_of(description);
    made.is_of_process = is_of_process(made.source);
    made.is_assumed = made.source == "pid";
    made.shares.push_back({made.source});
    if (const auto known = options_.sources.find(text); known != options_.sources.end() && !known->second.empty()) {
      made.shares = known->second;
      made.source = shares_text(made.shares);
      made.is_assumed = false;
    }
    probes.push_back(std::move(made));
    return probes.back();
  }

  // The source's stages; of several sources the mean is expected.
  vm::CostRange add_source(ProbePrediction& probe) {
    vm::CostRange range;
    for (const SourceShare& one : probe.shares) {
      const SourceCost cost = source_cost(prices_, one.source, options_.event_bytes);
      const bool is_first = &one == probe.shares.data();
      if (is_first || cost.all.clocks < range.cheapest.clocks) range.cheapest = cost.all;
      if (is_first || cost.all.clocks > range.dearest.clocks) range.dearest = cost.all;
      range.expected += cost.all.times(one.share);
      probe.thread += cost.thread.times(one.share);
      probe.stages.resize(cost.stages.size());
      for (size_t i = 0; i < cost.stages.size(); i++) probe.stages[i] += cost.stages[i].times(one.share);
    }
    probe.trigger = range.expected;
    return range;
  }

  // Where the VM runs at the firing, and where a recording has it, nothing is captured.
  void add_capture(ProbePrediction& probe) {
    if (is_in_thread_ || probe.source == "replay" || probe.source == "tick") return;
    CaptureNeeds needs = probe.needs;
    for (const SourceShare& one : probe.shares) {
      const bool copies_stack = one.copies_stack || !probe.is_of_process;
      needs.stack_bytes = options_.stack_bytes.value_or(copies_stack ? usual_stack_bytes(kind_of(one.source)) : 0);
      if (needs.frames <= (probe.is_of_process ? kKnownFrames : 1)) needs.stack_bytes = 0;
      const CaptureCost cost = capture_cost(prices_, prices_, needs, kind_of(one.source));
      probe.capture += (cost.thread + cost.dvm).times(one.share);
      probe.thread += cost.thread.times(one.share);
      probe.ring_bytes += one.share * ring_bytes(needs, options_.sizes.expected, kind_of(one.source));
    }
    if (!probe.is_of_process) return;
    const vm::Cost returns = prices_.of_optional("resume/return"_row).times(options_.returns);
    probe.capture += returns, probe.thread += returns;
  }

  static std::vector<EcbCost> costs_of(const ProbePrediction& probe) {
    std::vector<EcbCost> costs;
    for (const ClausePrediction& clause : probe.clauses) costs.push_back(clause.cost);
    return costs;
  }

  void finish_locally(ProbePrediction& probe) {
    const vm::CostRange source = add_source(probe);
    add_capture(probe);
    prepare(probe);
    probe.firing = firing_cost(probe.prepare, costs_of(probe));
    probe.firing += source;
    probe.firing += {probe.capture, probe.capture, probe.capture};
  }

  void finish_by_agent(ProbePrediction& probe, const AgentWay& way) {
    const std::vector<EcbCost> clauses = costs_of(probe);
    agent_prices_.loaded = way.by_calls.empty() ? options_.heap : 0;
    const AgentCost cost = way.is_at_site ? at_site(probe, way, clauses) : by_record(probe, way, clauses);
    for (size_t i = 0; i < cost.clauses.size(); i++) {
      probe.clauses[i].cost = cost.clauses[i];
      probe.clauses[i].cost.actions += cost.in_dvm[i].actions;
    }
    probe.source = !way.is_at_site    ? "agent, by a record"
                   : has_records(way) ? "agent, in the thread but for some clauses"
                                      : "agent, in the thread";
    probe.is_assumed = false;
    probe.trigger = cost.stub;
    probe.stages.clear();
    probe.thread = cost.thread.expected;
    probe.firing = cost.thread;
    probe.firing += cost.dvm;
    probe.agent = AgentPrediction{way, cost.thread.expected, cost.dvm.expected};
  }

  AgentCost at_site(ProbePrediction& probe, const AgentWay& way, std::span<const EcbCost> clauses) {
    std::vector<vm::Cost> prepared(clauses.size());
    for (size_t i = 0; i < clauses.size(); i++) {
      const SiteUses& uses = way.clauses[i];
      const double bytes = uses.record ? uses.record->bytes : clauses[i].faults * uses.fault_bytes;
      if (bytes > 0) prepared[i] = prepared_alone(probe.clauses[i]);
      probe.ring_bytes += clauses[i].probability * (bytes + uses.updates.share * uses.updates.record_bytes);
    }
    return cost_at_site(agent_prices_, prices_, way, clauses, prepared);
  }

  // Before a firing of this clause only, whose predicate is known to hold.
  vm::Cost prepared_alone(const ClausePrediction& clause) {
    ProbePrediction alone;
    alone.clauses = {clause};
    alone.clauses.front().cost.probability = 1;
    prepare(alone);
    return alone.prepare;
  }

  AgentCost by_record(ProbePrediction& probe, const AgentWay& way, std::span<const EcbCost> clauses) {
    const double share = reached(way, clauses);
    CaptureNeeds needs = probe.needs;
    needs.stack_bytes = way.stack_bytes;
    const CaptureCost captured = capture_cost(agent_prices_, prices_, needs);
    prepare(probe, share);
    probe.capture = (captured.thread + captured.dvm).times(share);
    probe.ring_bytes = share * way.record_bytes;
    const AgentCost cost = cost_by_record(agent_prices_, way, clauses, captured, probe.prepare);
    probe.prepare = probe.prepare.times(share);
    return cost;
  }

  // Some of its probes are as without an agent.
  static void blend(ProbePrediction& probe, const ProbePrediction& local, double share) {
    const auto mix = [&](vm::Cost& one, const vm::Cost& other) { one = one.times(share) + other.times(1 - share); };
    probe.source = fmt::format("{:.0f} % {}, {:.0f} % {}", 100 * share, probe.source, 100 * (1 - share), local.source);
    mix(probe.trigger, local.trigger), mix(probe.capture, local.capture), mix(probe.thread, local.thread);
    mix(probe.prepare, local.prepare), mix(probe.firing.expected, local.firing.expected);
    if (local.firing.cheapest.clocks < probe.firing.cheapest.clocks) probe.firing.cheapest = local.firing.cheapest;
    if (local.firing.dearest.clocks > probe.firing.dearest.clocks) probe.firing.dearest = local.firing.dearest;
    probe.ring_bytes = share * probe.ring_bytes + (1 - share) * local.ring_bytes;
  }

  // Null: no agent takes it.
  const AgentWay* way_of(const ProbePrediction& probe) const {
    const auto found = options_.agent.find(probe.description);
    return is_in_thread_ || found == options_.agent.end() || found->second.share == 0 ? nullptr : &found->second;
  }

  void finish(ProbePrediction& probe) {
    if (const AgentWay* way = way_of(probe)) {
      ProbePrediction local = probe;
      if (way->share < 1) finish_locally(local);
      finish_by_agent(probe, *way);
      if (way->share < 1) blend(probe, local, way->share);
    } else {
      finish_locally(probe);
    }
    const auto rate = options_.rates.find(probe.description);
    if (rate == options_.rates.end()) return;
    probe.rate = rate->second;
    probe.is_rate_known = true;
    probe.is_rate_named = options_.named_rates.contains(probe.description);
    count_firings(probe);
    for (const ClausePrediction& clause : probe.clauses)
      count_records(clause, probe.rate * clause.cost.probability * clause.committed.value_or(1));
  }

  // Of a firing that comes so far; reached: the share of those that do.
  void prepare(ProbePrediction& probe, double reached = 1) {
    const auto ecbs = static_cast<double>(probe.clauses.size());
    probe.prepare = flow({}, prices_.of("prepare/machine"_row), prices_.of("prepare/ecb"_row), ecbs);
    if (reached > 0) prepare_clauses(probe, reached);
  }

  // Adds the preparation that some clauses need. Shares are of the firings that come so far.
  void prepare_clauses(ProbePrediction& probe, double reached) {
    const EngineId engine = prices_.execution().engine;
    double acting = 0, keyed = 0, started = 0, starts = 0;  // acting: on engine llvm, clauses behind their gates
    for (const ClausePrediction& clause : probe.clauses) {
      const double holds = std::min(clause.cost.probability / reached, 1.0), entered = has_gate(*clause.desc, engine) ? holds : 1;
      const bool is_alone = probe.clauses.size() == 1;
      if (starts_machine(*clause.desc, engine, is_alone)) started = std::max(started, entered), starts += entered;
      acting += engine == EngineId::llvm ? entered : holds;
      if (keyed_actions(*clause.desc) > 0) keyed += holds;
    }
    if (started > 0) probe.prepare += prices_.of("prepare/dif"_row).times(started);
    probe.prepare += prices_.of_optional("prepare/clause"_row).times(starts - started);
    if (started > 0 && locals_ > 0) probe.prepare += prices_.of_optional("prepare/locals"_row, locals_).times(started);
    probe.prepare += prices_.of_optional("prepare/actions"_row).times(std::min(acting, 1.0));
    if (engine == EngineId::llvm) probe.prepare += prices_.of_optional("prepare/body"_row).times(std::max(acting - 1, 0.0));
    probe.prepare += prices_.of_optional("key/once"_row).times(std::min(keyed, 1.0));
  }

  void count_firings(const ProbePrediction& probe) {
    const vm::Cost all = probe_cost(probe.firing.expected, probe.rate), thread = probe_cost(probe.thread, probe.rate);
    Total& total = prediction_.total;
    if (is_in_thread_) return void((is_of_process(probe.source) ? total.probes_user : total.probes_system) += all);
    if (probe.agent && probe.agent->way.share == 1) return void(total.probes_user += all);
    total.probes_system += thread;
    total.probes_user += remainder(all, thread);
  }

  // Of the bytes that are wanted in the ring, so many times as much in a second. dvm's own timers leave none there.
  double wanted_a_second() const {
    double bytes = 0;
    for (const ProbePrediction& probe : prediction_.probes)
      if (probe.source != "tick") bytes += probe.rate * probe.ring_bytes;
    return bytes / wanted_bytes(options_.ring);
  }
  static bool is_at_site(const ProbePrediction& probe) { return probe.agent && probe.agent->way.is_at_site; }
  double longest_wait() const {
    const auto is_destructive = [](const dif::EcbDesc* clause) { return !dif::destructive_part(*clause).empty(); };
    return std::ranges::any_of(clauses_, is_destructive) ? kShortestWait : kLongestWait;
  }

  vm::Cost polling() {
    std::vector<PolledClauses> all;
    for (const ProbePrediction& probe : prediction_.probes) {
      if (probe.source == "tick") continue;
      if (!is_at_site(probe)) all.push_back({probe.rate, static_cast<double>(probe.clauses.size())});
      for (size_t i = 0; is_at_site(probe) && i < probe.clauses.size(); i++)
        all.push_back({probe.rate * records_of(probe.agent->way.clauses[i], probe.clauses[i].cost), 1});
    }
    const bool has_lanes = std::ranges::any_of(prediction_.probes, [](const auto& probe) { return probe.agent.has_value(); });
    return polling_cost(prices_, all, wanted_a_second(), longest_wait(), has_lanes ? "consumer/poll_lanes"_row : kPoll);
  }

  void count_waiting() {
    PredictOptions in_dvm = options_;  // the tables of a lane are small
    for (const ProbePrediction& probe : prediction_.probes)
      if (is_at_site(probe)) in_dvm.rates.erase(probe.description);
    const TableUses uses = table_uses(programs_, in_dvm, prices_);
    prediction_.waiting.clocks = uses.keys.among(options_.keys) + uses.tuples.among(options_.keys);
    prediction_.total.probes_user += prediction_.waiting;
  }

  void count_wakes() {
    double rate = 0;
    for (const ProbePrediction& probe : prediction_.probes) {
      const std::optional<Row> row = woken_row(probe);
      if (!row || probe.rate == 0) continue;
      rate += probe.rate, prediction_.woken += prices_.of(*row).times(probe.rate);
    }
    if (rate == 0) return;
    prediction_.woken = prediction_.woken.times(1 / rate);
    prediction_.waking = prediction_.woken.times(std::min(options_.wakes, rate));
    prediction_.total.probes_system += prediction_.waking;
  }

  void count_consumer() {
    Total& total = prediction_.total;
    vm::Cost switches = prices_.of("consumer/context_switch"_row).times(2 * options_.wake_ups);
    if (!is_in_thread_) {
      const vm::Cost polls = polling();
      switches += polls, prediction_.consumer += polls;
    }
    const vm::Cost others = remainder(prediction_.consumer, switches);
    total.consumer_user = is_in_thread_ ? printing_ : others;
    total.consumer_system = remainder(prediction_.consumer, total.consumer_user);
  }

  void count_records(const ClausePrediction& clause, double rate) {
    const RecordShape& record = clause.record;
    if (record.bytes == 0) return;
    prediction_.record_rate += record.bytes * rate;
    vm::Cost cost = prices_.of("consumer/record"_row, record.string_bytes);
    for (const RowUse& step : record.steps) cost += prices_.of(step.row, step.things);
    for (const RowUse& step : record.optional) cost += prices_.of_optional(step.row, step.things);
    if (!options_.is_quiet) cost += prices_.of("consumer/heading"_row);
    printing_ += cost.times(rate);
  }

  std::span<const dif::Program* const> programs_;
  const std::vector<const dif::EcbDesc*> clauses_;
  const PredictOptions& options_;
  Prices prices_, agent_prices_;
  const bool is_in_thread_;  // where clauses run
  double committed_share_;
  double locals_ = 0;     // clause-local variables
  double committed_ = 0;  // bytes
  Prediction prediction_;
  vm::Cost printing_;  // clocks a second
};

}  // namespace

Prediction predict(std::span<const dif::Program* const> programs, const vm::Profile& profile, const PredictOptions& options) {
  return Predicting(programs, profile, options).predict();
}

}  // namespace dvm::runtime
