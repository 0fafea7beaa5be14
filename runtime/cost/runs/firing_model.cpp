// Covered by tests/runtime/scenarios/test_simulate.py.

#include "runtime/cost/runs/firing_model.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

#include "runtime/backend/local/fire_memory.h"
#include "runtime/cost/table_uses.h"
#include "runtime/enabling/enabling.h"
#include "runtime/plan/translation_price.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

constexpr double kEntryHead = 16;  // bytes of an entry of the aggregation buffer
constexpr double kArena = 0.75;    // of the aggregation buffer; the rest is its index

double rounded(double bytes) { return 8 * std::ceil(bytes / 8); }

// All rates together are 1, so that what is said of a second is said of a firing.
void make_shares(std::span<const dif::Program* const> programs, PredictOptions& options) {
  if (options.rates.empty())
    for (const dif::ProbeDesc* description : descriptions_of(programs))
      if (!is_own_probe(*description) && source_of(*description) != "tick") options.rates[text_of(*description)] = 1;
  double sum = 0;
  for (const auto& [description, rate] : options.rates) sum += rate;
  for (auto& [description, rate] : options.rates) rate = sum > 0 ? rate / sum : 0;
}

// Of all probes together.
struct ProbeSums {
  double ring_bytes = 0;
  double agent_clocks = 0;  // what an agent takes in the threads, which is the user's time
  double clauses = 0;
  Row poll = kPoll, shared_poll = "consumer/poll_shared"_row;
};

ProbeSums sums_of(const Prediction& prediction) {
  ProbeSums sums;
  for (const ProbePrediction& probe : prediction.probes) {
    sums.ring_bytes += probe.rate * probe.ring_bytes;
    if (probe.agent && probe.agent->way.share == 1) sums.agent_clocks += probe.rate * probe.thread.clocks;
    sums.clauses += static_cast<double>(probe.clauses.size());
    if (probe.agent) sums.poll = sums.shared_poll = "consumer/poll_lanes"_row;
  }
  return sums;
}

double key_bytes(const dif::AggregationDesc& aggregation, double string) {
  double bytes = kEntryHead + 8.0 * aggregation_words(aggregation.function, aggregation.parameters);
  for (const dif::DataType& key : aggregation.keys)
    bytes += rounded(key.kind == dif::TypeKind::string ? string : std::max<double>(key.size, 8));
  return bytes / kArena;
}

// How much of a principal buffer a script's records take, with room for the longest strings and all frames of a stack.
struct RecordRoom {
  double firing = 0;  // bytes of a firing as frequent as options.rates says
  double end = 0;     // of END's records, which a buffer of policy fill reserves
};

// The error is the one that a run with these options would end with.
Result<RecordRoom> record_room(std::span<const dif::Program* const> programs, const PredictOptions& options,
                               const dif::Options& run) {
  std::deque<Probe> probes;  // one of each description, whatever that matches; addresses stay
  std::map<const Probe*, double> rates;
  Enabling enabling;
  const auto one = [&](const dif::ProbeDesc& description) {
    Probe& probe = probes.emplace_back();
    probe.id = static_cast<uint32_t>(probes.size());
    probe.provider = description.provider, probe.name = description.name;
    const auto rate = options.rates.find(text_of(description));
    rates[&probe] = rate == options.rates.end() ? 0 : rate->second;
    return std::vector<const Probe*>{&probe};
  };
  for (const dif::Program* program : programs)
    if (Status added = enabling.add(*program, one, run, vm::CostPolicy::none); !added) return added.error();
  RecordRoom room{.end = static_cast<double>(enabling.record_bytes("END"))};
  const SimulatedBuffers buffers = buffers_of(run);
  const size_t for_end = buffers.policy == BufferPolicy::fill ? enabling.record_bytes("END") : 0;
  const auto bufsize = static_cast<size_t>(buffers.principal), aggsize = static_cast<size_t>(buffers.aggregation);
  if (Status fits = check_sizes(enabling, for_end, bufsize, aggsize); !fits) return fits.error();
  const double committed = committed_share(programs, options);
  for (const Ecb& ecb : enabling.ecbs()) {
    const double kept = ecb.plan->speculates ? committed_share(ecb.plan->desc, committed) : 1;
    room.firing += rates.at(ecb.probe) * probability_of(ecb.plan->desc, options) * kept * ecb.plan->record_size;
  }
  return room;
}

// A clause on all of its probes.
struct Interpreted {
  dif::SourcePosition position;
  double price = 0;           // ns of its translation, besides loading LLVM
  double rate = 0, load = 0;  // firings a second; ns of them a second
  double ns = 0, probes = 0;  // of a firing on each probe, added up

  double each() const { return rate > 0 ? load / rate : ns / probes; }
};

std::map<size_t, Interpreted> interpreted(const Prediction& prediction, double clock_hz) {
  std::map<size_t, Interpreted> all;
  for (const ProbePrediction& probe : prediction.probes) {
    if (probe.agent && probe.agent->way.is_at_site) continue;  // no engine runs it
    for (const ClausePrediction& clause : probe.clauses) {
      const EcbCost& cost = clause.cost;
      const double ns = (cost.predicate.expected.clocks + cost.probability * cost.actions.expected.clocks) / clock_hz * 1e9;
      Interpreted& one = all[clause.number];
      one.position = clause.position;
      one.price = TranslationPrice().per_part * TranslationPrice::parts(clause.difos);
      one.rate += probe.rate, one.load += probe.rate * ns;
      one.ns += ns, one.probes++;
    }
  }
  return all;
}

}  // namespace

Result<FiringModel> model_firing(std::span<const dif::Program* const> programs, const vm::Profile& profile,
                                 PredictOptions options, const dif::Options& run, std::set<std::string>& missing) {
  make_shares(programs, options);
  const Result<RecordRoom> room = record_room(programs, options, run);
  if (!room) return room.error();
  const Prediction prediction = predict(programs, profile, options);
  missing = prediction.missing;
  Prices prices(profile, options.sizes, options.execution);
  const bool is_in_thread = prices.execution().is_in_thread();
  const double ns = 1e9 / profile.clock_hz;
  FiringModel model;
  for (const EngineChange& change : engine_changes(prediction, profile.clock_hz))  // rates add up to 1: a second is a firing
    model.translated_after = std::max(model.translated_after, change.seconds.value_or(0));
  const ProbeSums sums = sums_of(prediction);
  const Total& total = prediction.total;
  model.thread_ns = (is_in_thread ? total.probes().clocks : total.probes_system.clocks + sums.agent_clocks) * ns;
  if (!is_in_thread) model.dvm_ns = (total.probes_user.clocks - prediction.waiting.clocks - sums.agent_clocks) * ns;
  model.record_bytes = room->firing, model.end_bytes = room->end;
  if (model.record_bytes > 0) model.print_ns = prediction.printing.clocks * ns;
  if (!is_in_thread) model.ring_bytes = sums.ring_bytes;
  model.dynamic = dynamic_uses(programs, options);
  bool aggregates = false;
  for (const dif::Program* program : programs)
    for (const dif::AggregationDesc& one : program->aggregations)
      if (aggregates = true; !one.keys.empty()) model.key_bytes += key_bytes(one, options.sizes.expected);
  model.read_records_ns = (prices.of("consumer/status_snapshot"_row) + prices.of("consumer/buffer_snapshot"_row)).clocks * ns;
  if (aggregates) model.read_keys_ns = prices.of("consumer/aggregation_snapshot"_row).clocks * ns;
  if (const vm::Price* build = prices.find("consumer/aggregation_build"_row)) model.key_ns = build->n * ns;
  if (is_in_thread) return model;
  model.poll_ns = poll_cost(prices, sums.clauses, sums.poll).clocks * ns;  // of a poll that finds firings of all probes
  model.shared_poll_ns = poll_cost(prices, sums.clauses, sums.shared_poll).clocks * ns;
  model.late_ns = 1e9 * lateness(profile);
  model.woken_ns = prediction.woken.clocks * ns;
  model.shared_ns = prices.of("ring/shared"_row).clocks * ns;
  model.tables = table_uses(programs, options, prices);
  model.tables.scale(ns);
  missing.merge(std::set(prices.missing()));
  return model;
}

SimulatedBuffers buffers_of(const dif::Options& options) {
  const auto size = [&](dif::Option option) { return static_cast<double>(options[option]); };
  const auto times = [&](dif::Option period) { return 1e9 / std::max(size(period), 1.0); };
  return {size(dif::Option::ringsize),    size(dif::Option::bufsize),  size(dif::Option::aggsize),
          times(dif::Option::switchrate), times(dif::Option::aggrate), static_cast<BufferPolicy>(options[dif::Option::bufpolicy]),
          size(dif::Option::dynvarsize)};
}

std::vector<EngineChange> engine_changes(const Prediction& prediction, double clock_hz) {
  const double loading = TranslationPrice().load;
  const std::map<size_t, Interpreted> all = interpreted(prediction, clock_hz);
  double first = std::numeric_limits<double>::infinity();  // seconds until the first change
  for (const auto& [number, one] : all)
    if (one.load > 0) first = std::min(first, (loading + one.price) / one.load);
  std::vector<EngineChange> changes;
  for (const auto& [number, one] : all) {
    if (one.each() <= 0) continue;
    EngineChange change{number, one.position, (loading + one.price) / one.each(), {}};
    if (one.load > 0) {
      change.seconds = std::max(first, one.price / one.load);
      change.firings = *change.seconds * one.rate;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace dvm::runtime
