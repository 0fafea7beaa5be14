// The costs of an agent's stages, from pairs of scripts on a looping child in which the agent is (live_cases.h). A price is what
// the second script takes beyond the first, less what the model says of the difference; in dvm, what a firing takes beyond what
// the model says. It works without privileges.
//
// Covered by tests/unit/lab/agent_cases_test.cpp and tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lab/calibrate/live_cases.h"
#include "lab/calibrate/live_run.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/runs/agent_ways.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr std::string_view kReturns = "calibrated:::return";
constexpr const char* kCount = "{ @ = count(); }";
constexpr const char* kTwoCounts = "{ @a = count(); @b = count(); }";
constexpr const char* kFalse = "/arg0 == 1/ { @ = count(); }";
constexpr const char* kVariable = "{ self->x = 1; }";
constexpr const char* kRecord = "{ n = 1; }";  // a global variable: dvm runs it
constexpr const char* kByString = "{ @[copyinstr(arg0)] = count(); }";
constexpr const char* kByStack = "{ @[ustack()] = count(); }";
constexpr const char* kRecordOfStack = "{ @[ustack()] = count(); n = 1; }";
constexpr const char* kRecordOfString = "{ s = copyinstr(arg0); }";

constexpr CallSizes kTexts = {of_text(kShort), of_text(kLong)};

const AgentCase kCases[] = {
    // Predicates, which are evaluated before anything else.
    {"agent/site/expression"_row,
     "/arg0 == 1/ { @a = count(); } PROBE /arg0 == 2/ { @b = count(); }",
     kFalse,
     {CallSize{}, CallSize{}},
     {.larger = "/arg0 == 1/ { @a = count(); } PROBE /(arg0 ^ arg1) * 5 + (arg2 ^ 7) * 3 - arg3 * 9 == 2/ { @b = count(); }"}},
    {"agent/stub/entry"_row, kFalse},
    {"agent/stub/return"_row, "/arg1 == 1/ { @ = count(); }", "", kOneSize, {.probe = kReturns}},
    {"agent/stub/usdt"_row, kFalse, "", kOneSize, {.stub = StubKind::nop}},
    // One count does not take the lane; two do.
    {"aggregation/count"_row, "{ @a = count(); @b = count(); @c = count(); }", kTwoCounts},
    {"agent/lane/find"_row, kCount},
    {"agent/lane/take"_row, kTwoCounts},
    {"aggregation/sum"_row, "{ @a = count(); @b = sum(arg0); }", kCount},
    {"aggregation/min"_row, "{ @a = count(); @b = min(arg0); }", kCount},
    {"aggregation/max"_row, "{ @a = count(); @b = max(arg0); }", kCount},
    {"aggregation/avg"_row, "{ @a = count(); @b = avg(arg0); }", kCount},
    {"aggregation/stddev"_row, "{ @a = count(); @b = stddev(arg0 & 511); }", kCount},
    {"aggregation/quantize"_row, "{ @a = count(); @b = quantize(arg0 & 511); }", kCount},
    {"aggregation/lquantize"_row, "{ @a = count(); @b = lquantize(arg0 & 511, 0, 1000, 10); }", kCount},
    {"aggregation/llquantize"_row, "{ @a = count(); @b = llquantize(arg0 & 511, 10, 0, 6, 20); }", kCount},
    {"key/integer"_row, "{ @[arg0, arg0 + 1, arg0 + 2] = count(); }", "{ @[arg0] = count(); }", kOneSize, {.uses = 2}},
    {"key/any"_row, "{ @[arg0] = count(); }", kCount},
    {"key/string"_row, kByString, kCount, kTexts},
    {"agent/site/far_string"_row, kByString, kByString, {of_text(kShort), {}}, {.is_on_heap = true}},
    {"action/ustack"_row, kByStack, kCount, kStacks},
    {"agent/site/name"_row, "{ @[execname] = count(); }", kCount},
    {"agent/site/variables"_row, kVariable},
    {"agent/site/time"_row, "{ self->x = timestamp; }", kVariable},
    {"agent/stub/common"_row, kCount, kCount, kOneSize, {.follows = true}},
    // Records.
    {"agent/lane/record"_row, kRecord},
    {"capture/time"_row, "{ n = timestamp; }", kRecord},
    {"capture/cpu_time"_row, "{ n = vtimestamp; }", kRecord},
    {"capture/thread"_row, "{ n = tid; }", kRecord},
    {"capture/name"_row, "{ s = execname; }", kRecord},
    {"capture/argument"_row, "{ n = arg0 + arg1 + arg2 + arg3; }", kRecord, kOneSize, {.uses = 4}},
    {"capture/bytes"_row,
     "{ n = *(uint64_t *)copyin(arg0, 8); }",
     kRecord,
     {of_bytes(8), of_bytes(kLong)},
     {.larger = "{ n = *(uint64_t *)copyin(arg0, 199); }"}},
    {"capture/string"_row, kRecordOfString, kRecord, kTexts},
    {"capture/stack"_row, kRecordOfStack, kRecord, kStacks},
    {"capture/stack_bytes"_row, kRecordOfStack, kRecord, {of_copy(1024), of_copy(4096)}},
    {"agent/lane/read"_row, kRecordOfString, "", kTexts, {.is_in_dvm = true}},
};

// Until dvm reads again, a thread whose ring is empty has only a part of it, three sixteenths or more.
constexpr double kShareOfRing = 0.15;    // share of a ring that the calls of a sample fill
constexpr double kRing = 1 << 22;        // bytes of a ring
constexpr const char* kRingSize = "8m";  // the option: half of it is the ring of a thread
constexpr uint64_t kMoreCalls = 8;       // times as many calls as for a trap
constexpr uint32_t kBurst = 1000;        // calls that are timed together

class AgentMeter {
 public:
  AgentMeter(Bench& bench, vm::Profile& profile) : bench_(bench), profile_(profile) {}

  void measure(const AgentCase& one) {
    Remainder found = remainder(one, *one.sizes[0], one.with);
    if (one.sizes[1]) {
      const Remainder more = remainder(one, *one.sizes[1], *one.how.larger != 0 ? one.how.larger : one.with);
      found.price = by_size(found.price, found.things, more.price, more.things - found.things);
    }
    profile_.set(one.row.in(kInAgent), times(found.price, clocks_of_ns(profile_) / one.how.uses));
  }

 private:
  struct Remainder {
    vm::Price price;
    double things = 0;
  };

  // Ns that the model does not say.
  Remainder remainder(const AgentCase& one, const CallSize& size, const char* clauses) {
    AgentTerms how = one.how;
    const LiveSide with = run(how, size, clauses);
    if (how.is_in_dvm) return {unsaid(with, {}, true), with.record_bytes};
    how.is_on_heap = how.follows = false;
    LiveSide without;
    if (*one.without != 0)
      without = run(how, size, one.without);
    else
      without.taken.thread = measure_untraced(fmt::format("agent {} depth {}", static_cast<int>(how.stub), size.depth),
                                              calls(how, size, 0), *child_, bench_);
    return {unsaid(with, without, false), size.things > 0 ? size.things : instructions(how, clauses)};
  }

  static std::string script_of(std::string_view probe, const char* clauses) {
    return fmt::format("{} {}", probe, replaced(clauses, "PROBE", probe));  // of a further clause
  }

  // Counts the instructions of the last clause's predicate, in which two sizes differ.
  double instructions(const AgentTerms& how, const char* clauses) const {
    const auto program = bench_.compile(script_of(how.probe, clauses));
    if (!program || !program->clauses.back().predicate) return 0;
    return static_cast<double>(program->clauses.back().predicate->difo.text.size());
  }

  // The probe of a prediction, which is in some process.
  static const char* modelled_probe(const AgentTerms& how) {
    if (how.stub == StubKind::nop) return "modelled1:a:f:marker";
    return how.probe == kReturns ? "pid1:a:f:return" : "pid1:a:f:entry";
  }

  // What the model says of the script.
  LiveSide predicted(const AgentTerms& terms, const CallSize& size, const char* clauses, const Settings& settings) const {
    const dif::Program program = or_throw(bench_.compile(script_of(modelled_probe(terms), clauses)));
    const dif::Program* programs[] = {&program};
    PredictOptions how;
    how.probability = 0;  // those of the cases are false
    how.sizes.expected = size.letters + 1.0;
    how.sizes.frames = frames_of({.depth = size.depth});
    how.stack_bytes = size.stack_bytes;
    dif::Options options;
    set_options(options, settings);
    how.agent = or_throw(find_agent_ways(programs, options, {}, how));
    const Prediction prediction = predict(programs, profile_, how);
    if (prediction.probes.empty() || !prediction.probes.front().agent) throw Error{"its script has no probe of a process"};
    const AgentPrediction& agent = *prediction.probes.front().agent;
    const double ns = 1e9 / profile_.clock_hz;
    return {{}, agent.thread.clocks * ns, agent.dvm.clocks * ns, prediction.probes.front().ring_bytes};
  }

  StubCalls calls(const AgentTerms& how, const CallSize& size, double record_bytes) const {
    StubCalls made{how.stub, kMoreCalls * bench_.calls, size.depth, size.letters, how.is_on_heap};
    made.burst = kBurst;
    if (record_bytes > 0) made.times = std::min(made.times, static_cast<uint64_t>(kShareOfRing * kRing / record_bytes));
    return made;
  }

  // Each in a process of its own: what an agent maps stays there.
  LiveSide run(const AgentTerms& how, const CallSize& size, const char* clauses) {
    Settings settings = {{"ringsize", kRingSize}, {"ustackunwind", std::to_string(size.stack_bytes)}};
    if (how.follows) settings.emplace_back("followfork", "");
    LiveSide side = predicted(how, size, clauses, settings);
    child_ = or_throw(start_looping_child());
    LiveCase live{calls(how, size, side.record_bytes), script_of(how.probe, clauses), settings};
    live.by = how.is_in_dvm ? LiveCase::By::agent : LiveCase::By::agent_in_thread;
    live.warmed = static_cast<uint64_t>(side.record_bytes > 0 ? 2 * kRing / side.record_bytes : 0);
    side.taken =
        measure_live(fmt::format("agent {} {} {} depth {} letters {} {} bytes {} {}", static_cast<int>(how.stub), how.probe,
                                 clauses, size.depth, size.letters, how.is_on_heap, size.stack_bytes, how.follows),
                     live, *child_, bench_);
    return side;
  }

  std::optional<LoopingChild> child_;
  Bench& bench_;
  vm::Profile& profile_;
};

// Those that no other meter has.
std::vector<Row> agent_rows() {
  std::vector<Row> rows = rows_of(kCases);
  std::erase_if(rows, [](Row row) { return !row.folder().starts_with("agent/"); });
  return rows;
}

// If the agent is refused, it is so of the first case. One that fails later leaves its row without a price.
void measure_agent(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  for (const AgentCase& one : kCases)
    if (!only || *only == one.row) profile.forget(one.row.in(kInAgent));  // an older price would be taken for a known one
  AgentMeter meter(bench, profile);
  for (const AgentCase& one : kCases) {
    bench.progress(static_cast<size_t>(&one - kCases), std::size(kCases));
    if (only && *only != one.row) continue;
    const Status measured = caught([&] { meter.measure(one); });
    if (!measured && (only || &one == kCases)) return or_throw(measured);
    if (!measured) bench.warn(fmt::format("{} was not measured: {}", one.row.in(kInAgent).text(), measured.error().message));
  }
}

}  // namespace

std::span<const AgentCase> agent_cases() { return kCases; }

extern const Meter kAgentMeter = {"the agent", "the stages of an agent were", agent_rows, measure_agent};

}  // namespace dvm::lab
