// The costs of an agent's stages, from pairs of scripts on a looping child in which the agent is (agent_cases.h). A price is what
// the second script takes beyond the first, less what the model says of the difference; in dvm, what a firing takes beyond what
// the model says. It works without privileges.
//
// Covered by tests/unit/lab/agent_cases_test.cpp and tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/calibrate/agent_cases.h"
#include "lab/calibrate/live_run.h"
#include "lab/calibrate/made_up_run.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/runs/agent_ways.h"

namespace dvm::lab {

using namespace runtime;
namespace {

// Until dvm reads again, a thread whose ring is empty has only a part of it, three sixteenths or more.
constexpr double kShareOfRing = 0.15;    // share of a ring that the calls of a sample fill
constexpr double kRing = 1 << 22;        // bytes of a ring
constexpr const char* kRingSize = "8m";  // the option: half of it is the ring of a thread
constexpr uint64_t kMoreCalls = 8;       // times as many calls as for a trap
constexpr uint32_t kBurst = 1000;        // calls that are timed together

// A script on the probe of a case.
struct Traced {
  std::string clauses;
  AgentSize size;
  bool is_on_heap = false, follows = false;
};

struct AgentSides {
  double thread = 0, dvm = 0;  // ns
  double record_bytes = 0;
};

class AgentMeter {
 public:
  AgentMeter(Bench& bench, vm::Profile& profile) : bench_(bench), profile_(profile) {}

  void measure(const AgentCase& one) {
    const Remainder first = remainder(one, *one.sizes[0]), second = one.sizes[1] ? remainder(one, *one.sizes[1]) : first;
    const vm::Price ns = one.sizes[1] ? by_size(first.price, first.things, second.price, second.things - first.things)
                                      : times(first.price, 1 / one.uses);
    profile_.set(one.row.in(kInAgent), times(ns, clocks_of_ns(profile_)));
  }

 private:
  struct Remainder {
    vm::Price price;
    double things = 0;
  };

  // Ns that the model does not say.
  Remainder remainder(const AgentCase& one, const AgentSize& size) {
    const Traced with{size.with, size, one.is_on_heap, one.follows};
    const AgentSides said = predicted(one, with);
    const LiveFigures taken = run(one, with, said);
    if (one.is_in_dvm) return {{std::max(taken.handled.median - said.dvm, 0.0), 0, taken.handled.deviation()}, said.record_bytes};
    vm::Price more = one.without[0] == '\0' ? beyond_untraced(one, size, taken) : beyond(one, size, taken);
    more.m = std::max(more.m - said.thread, 0.0);
    return {more, size.things > 0 ? size.things : instructions(one, size)};
  }

  vm::Price beyond_untraced(const AgentCase& one, const AgentSize& size, const LiveFigures& taken) {
    const std::string series = fmt::format("agent {} depth {}", static_cast<int>(one.stub), size.depth);
    return difference(taken.thread, measure_untraced(series, calls(one, size, 0), *child_, bench_));
  }

  vm::Price beyond(const AgentCase& one, const AgentSize& size, const LiveFigures& taken) {
    const Traced without{one.without, size};
    const AgentSides said = predicted(one, without);
    vm::Price more = difference(taken.thread, run(one, without, said).thread);
    more.m += said.thread;
    return more;
  }

  static std::string script_of(const std::string& probe, const std::string& clauses) {
    constexpr std::string_view kAgain = "PROBE";  // of a further clause
    std::string text = fmt::format("{} {}", probe, clauses);
    if (const size_t at = text.find(kAgain); at != std::string::npos) text.replace(at, kAgain.size(), probe);
    return text;
  }

  // Counts the instructions of the last clause's predicate, in which two sizes differ.
  double instructions(const AgentCase& one, const AgentSize& size) const {
    const auto program = bench_.compile(script_of(probe_of(one), size.with));
    if (!program || !program->clauses.back().predicate) return 0;
    return static_cast<double>(program->clauses.back().predicate->difo.text.size());
  }

  // The probe of a prediction, which is in some process.
  static const char* modelled_probe(const AgentCase& one) {
    if (one.row == "agent/stub/usdt"_row) return "modelled1:a:f:marker";
    return one.is_return ? "pid1:a:f:return" : "pid1:a:f:entry";
  }
  static const char* probe_of(const AgentCase& one) { return one.is_return ? "calibrated:::return" : "calibrated:::entry"; }

  AgentSides predicted(const AgentCase& one, const Traced& traced) const {
    const dif::Program program = or_throw(bench_.compile(script_of(modelled_probe(one), traced.clauses)));
    const dif::Program* programs[] = {&program};
    PredictOptions how;
    how.probability = 0;  // those of the cases are false
    how.sizes.expected = traced.size.letters + 1.0;
    how.sizes.frames = frames_of({.depth = traced.size.depth});
    how.stack_bytes = static_cast<uint32_t>(std::stoul(traced.size.stack_bytes));
    dif::Options options;
    for (const auto& [name, value] : settings(traced)) set_options(options, {{name, value}});
    how.agent = or_throw(find_agent_ways(programs, options, {}, how));
    const Prediction prediction = predict(programs, profile_, how);
    if (prediction.probes.empty() || !prediction.probes.front().agent) throw Error{"its script has no probe of a process"};
    const AgentPrediction& agent = *prediction.probes.front().agent;
    const double ns = 1e9 / profile_.clock_hz;
    return {agent.thread.clocks * ns, agent.dvm.clocks * ns, prediction.probes.front().ring_bytes};
  }

  static std::vector<std::pair<const char*, const char*>> settings(const Traced& traced) {
    std::vector<std::pair<const char*, const char*>> all = {{"ringsize", kRingSize}, {"ustackunwind", traced.size.stack_bytes}};
    if (traced.follows) all.emplace_back("followfork", "");
    return all;
  }

  StubCalls calls(const AgentCase& one, const AgentSize& size, double record_bytes, bool is_on_heap = false) const {
    StubCalls made{one.stub, kMoreCalls * bench_.calls, size.depth, size.letters};
    made.is_on_heap = is_on_heap;
    made.burst = kBurst;
    if (record_bytes > 0) made.times = std::min(made.times, static_cast<uint64_t>(kShareOfRing * kRing / record_bytes));
    return made;
  }

  // Each in a process of its own: what an agent maps stays there.
  LiveFigures run(const AgentCase& one, const Traced& traced, const AgentSides& said) {
    child_ = or_throw(start_looping_child());
    LiveCase live{calls(one, traced.size, said.record_bytes, traced.is_on_heap), script_of(probe_of(one), traced.clauses),
                  settings(traced)};
    live.by = one.is_in_dvm ? LiveCase::By::agent : LiveCase::By::agent_in_thread;
    live.warmed = static_cast<uint64_t>(said.record_bytes > 0 ? 2 * kRing / said.record_bytes : 0);
    return measure_live(fmt::format("agent {} {} {} depth {} letters {} {} bytes {} {}", static_cast<int>(one.stub),
                                    probe_of(one), traced.clauses, traced.size.depth, traced.size.letters, traced.is_on_heap,
                                    traced.size.stack_bytes, traced.follows),
                        live, *child_, bench_);
  }

  std::optional<LoopingChild> child_;
  Bench& bench_;
  vm::Profile& profile_;
};

// Those that no other meter has.
std::vector<Row> agent_rows() {
  std::vector<Row> rows = rows_of(agent_cases());
  std::erase_if(rows, [](Row row) { return !row.folder().starts_with("agent/"); });
  return rows;
}

// Older prices would be taken for known ones.
void forget_prices(vm::Profile& profile) {
  const auto before = profile.prices();
  profile.clear_prices();
  for (const auto& [name, price] : before)
    if (!name.starts_with("agent/")) profile.set(vm::RowName::of_table(name), price);
}

// If the agent is refused, it is so of the first case. One that fails later leaves its row without a price.
void measure_agent(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  if (!only) forget_prices(profile);
  AgentMeter meter(bench, profile);
  const auto cases = agent_cases();
  for (const AgentCase& one : cases) {
    bench.progress(static_cast<size_t>(&one - cases.data()), cases.size());
    if (only && *only != one.row) continue;
    const Status measured = caught([&] { meter.measure(one); });
    if (!measured && (only || &one == cases.data())) return or_throw(measured);
    if (!measured) bench.warn(fmt::format("{} was not measured: {}", one.row.in(kInAgent).text(), measured.error().message));
  }
}

}  // namespace

extern const Meter kAgentMeter = {"the agent", "the stages of an agent were", agent_rows, measure_agent};

}  // namespace dvm::lab
