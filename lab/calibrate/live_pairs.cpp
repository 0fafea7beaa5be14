// The costs of captures (captures.def), of ustack(), of what acts on the process that fired, and of an agent's stages, from pairs
// of scripts on a looping child (live_cases.h). A price is what the second script takes beyond the first, less what the model
// says of the difference. Rows with a price by size are measured with two sizes. The kernel stack is that of a system call of the
// child, some six frames. Those of an agent need no privileges.
//
// No other process is affected: the child ignores the signal, a stop is followed by the signal that ends it, and the bytes that
// are written stood there already.
//
// Covered by tests/unit/lab/agent_cases_test.cpp and tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "lab/calibrate/live_cases.h"
#include "lab/calibrate/live_run.h"
#include "lab/calibrate/script_meter.h"
#include "runtime/agent/text_code.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/instrument/agent/memory_callers.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr std::string_view kReturns = "calibrated:::return", kModelled = "pid1:a:f:entry", kModelledReturns = "pid1:a:f:return";
constexpr const char* kCount = "{ @ = count(); }";
constexpr const char* kCountOfChild = "/pid == CHILD/ { @ = count(); }";
constexpr const char* kTwoCounts = "{ @a = count(); @b = count(); }";
constexpr const char
    *kFalse = "/arg0 == 1/ { @ = count(); }",
    *kTwoFalse = "/arg0 == 1/ { @a = count(); } PROBE /arg0 == 2/ { @b = count(); }",
    *kLongFalse = "/arg0 == 1/ { @a = count(); } PROBE /(arg0 ^ arg1) * 5 + (arg2 ^ 7) * 3 - arg3 * 9 == 2/ { @b = count(); }";
constexpr const char* kGlobal = "{ n++; }";
#define AT_RETURN(value) "{ self->x = timestamp; } RETURNS { " value "; }"
constexpr const char* kRecord = "{ n[0] = 1; }";  // an associative array: dvm runs it
constexpr const char* kByString = "{ @[copyinstr(arg0)] = count(); }";
constexpr const char *kByReadable = "{ @[copyinstr(arg0 + 0)] = count(); }",
                     *kByUnreadable = "{ @[copyinstr(arg0 - (1LL << 40))] = count(); }";
constexpr const char* kByStack = "{ @[ustack()] = count(); }";
#define BY_KEYS(number) "{ @a[timestamp & " number "] = count(); @b[timestamp & " number "] = count(); }"
// dvm counts the records behind updates, and so knows when it has read them.
#define BY_KEYS_AND_RECORD(number) BY_KEYS(number) " PROBE { n[0] = 1; }"
constexpr double kManyKeys = 16384, kWithoutRoom = 2 * (1 - 512 / kManyKeys);
constexpr const char* kRecordOfStack = "{ @[ustack()] = count(); n[0] = 1; }";
constexpr const char *kRecordOfString = "{ s[0] = copyinstr(arg0); }",
                     *kRecordOfBytes = "{ n[0] = *(uint64_t *)copyin(arg0, BYTES); }";

constexpr CallSizes kTexts = {of_text(kShort), of_text(kLong)}, kBytes = {of_bytes(8), of_bytes(kLong)},
                    kCopies = {of_copy(1024), of_copy(4096)}, kUsualStacks = {of_stack(kShallow), of_stack(kUsual)};
// An agent loads what is on the heap, and reads what is shared by system calls.
constexpr PairTerms kOnHeap = {.text = TextPlace::heap}, kShared = {.text = TextPlace::shared};
constexpr PairTerms kInDvm = {.is_in_dvm = true}, kAdding = {.uses = kWithoutRoom, .is_in_dvm = true, .keys = kManyKeys};
constexpr PairTerms kOfSystemCall = {.probe = "syscall::getppid:entry", .callee = CalleeKind::system_call},
                    kOfTwoNumbers = {.uses = 2, .probe = "syscall::getppid:entry", .callee = CalleeKind::system_call};
constexpr PairTerms acting(double uses) { return {.uses = uses, .is_in_dvm = true, .acts = true}; }

const PairCase kCaptureCases[] = {
    {"capture/time"_row, "{ @ = sum(timestamp); }", kCount},
    {"capture/cpu_time"_row, "{ @ = sum(vtimestamp); }", kCount},
    {"capture/thread"_row, "{ @ = sum(tid); }", kCount},
    {"capture/name"_row, "{ @[execname] = count(); }", kCount},
    {"capture/argument"_row, "{ @ = sum(arg0 + arg1 + arg2 + arg3); }", kCount, kOneSize, {.uses = 4}},
    {"capture/bytes"_row, "{ @ = sum(*(uint64_t *)copyin(arg0, BYTES)); }", kCount, kBytes},
    {"capture/string"_row, kByString, kCount, kTexts},
    {"capture/stack"_row, kByStack, kCount, kStacks},
    // Others make system calls too, which the predicate keeps away.
    {"capture/kernel_stack"_row, "/pid == CHILD/ { @ = sum(stackdepth); }", kCountOfChild, kOneSize, kOfSystemCall},
    {"capture/command_line"_row, "/pid == CHILD/ { @[execargs] = count(); }", kCountOfChild, kOneSize, kOfSystemCall},
    {"capture/ancestors"_row, "/pid == CHILD/ { @ = sum(progenyof(PARENT)); }", kCountOfChild, kOneSize, kOfSystemCall},
    {"capture/number"_row, "/pid == CHILD/ { @ = sum(dvm_process[2] + dvm_process[3]); }", kCountOfChild, kOneSize,
     kOfTwoNumbers},
    {"capture/directory"_row, "/pid == CHILD/ { @[cwd] = count(); }", kCountOfChild, kOneSize, kOfSystemCall},
    {"action/ustack"_row, kByStack, kCount, kStacks, kInDvm},
    {"capture/stack_bytes"_row, kByStack, kCount, kCopies},
    {"capture/unwind"_row, kByStack, kCount, {of_stack(kShallow, 4096), of_stack(kDeep, 4096)}, kInDvm},
    // Read from /proc when the clause runs.
    {"variable/dvm_proc_number"_row, "{ @ = sum(dvm_proc_number[16 * CHILD]); }", kCount, kOneSize, kInDvm},
    {"variable/dvm_proc_text"_row, "{ @[dvm_proc_text[16 * CHILD]] = count(); }", kCount, kOneSize, kInDvm},
    {"action/raise"_row, "{ @ = count(); <4|raise(23);|> }", kCount, kOneSize, acting(4)},                           // SIGURG
    {"action/stop"_row, "{ @ = count(); stop(); raise(18); }", "{ @ = count(); raise(18); }", kOneSize, acting(1)},  // SIGCONT
    {"subroutine/progenyof"_row, "{ @ = count(); <16|this->is_child = progenyof(PARENT);|> }", kCount, kOneSize, acting(16)},
    {"subroutine/copyout"_row, "{ @ = count(); this->copied = copyin(arg0, BYTES);<4|copyout(this->copied, arg0, BYTES);|> }",
     kCount, kBytes, acting(4)},
    {"subroutine/copyoutstr"_row, "{ @ = count(); <4|copyoutstr(\"TEXT\", arg0, BYTES);|> }", kCount, kBytes, acting(4)},
};

const PairCase kAgentCases[] = {
    // Predicates, which are evaluated before anything else.
    {"agent/site/expression"_row, kTwoFalse, kFalse, {CallSize{}, CallSize{}}, {.larger = kLongFalse}},
    {"agent/stub/entry"_row, kFalse},
    {"agent/stub/return"_row, "/arg1 == 1/ { @ = count(); }", "", kOneSize, {.probe = kReturns}},
    {"agent/stub/usdt"_row, kFalse, "", kOneSize, {.callee = CalleeKind::nop}},
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
    {"key/string"_row, kByString, kCount, {of_text(kShort), of_text(kShortText - 1)}},
    {"agent/site/long_string"_row, kByString, kCount, {of_text(2 * kShortText), of_text(kLong)}},
    {"agent/site/heap_string"_row, kByString, kByString, {of_text(kShort), {}}, kOnHeap},
    {"agent/site/far_string"_row, kByString, kByString, {of_text(kShort), {}}, kShared},
    {"action/ustack"_row, kByStack, kCount, kUsualStacks},
    {"agent/site/called_stack"_row, "{ @[ustack(), arg0] = count(); }", "{ @[arg0, ustack()] = count(); }", kUsualStacks},
    {"agent/site/entered_frame"_row, kByStack, kCount, {of_calls(kShallow), of_calls(kUsual)}, {.enters = true}},
    {"agent/site/name"_row, "{ @[execname] = count(); }", kCount},
    {"agent/site/variables"_row, "{ self->x = 1; }"},
    {"agent/site/assigned_string"_row, "{ self->x = copyinstr(arg0); }", "", {of_text(kShort), {}}},
    {"agent/site/global"_row, kGlobal},
    {"agent/site/further_global"_row, "{ n++; m++; o++; }", kGlobal, kOneSize, {.uses = 2}},
    // At the entry and the return: other work hides most of a single reading of the cycle counter.
    {"agent/site/time"_row, AT_RETURN("self->y = timestamp"), "{ self->x = 1; } RETURNS { self->y = 1; }", kOneSize, {.uses = 2}},
    {"agent/site/bucket"_row, AT_RETURN("@ = quantize(timestamp)"), AT_RETURN("@ = sum(timestamp)")},
    {"agent/stub/common"_row, kCount, kCount, kOneSize, {.follows = true}},
    // Records.
    {"agent/lane/record"_row, kRecord},
    {"agent/lane/update"_row, BY_KEYS("16383"), BY_KEYS("7"), kOneSize, {.uses = kWithoutRoom, .keys = kManyKeys}},
    {"capture/time"_row, "{ n[0] = timestamp; }", kRecord},
    {"capture/cpu_time"_row, "{ n[0] = vtimestamp; }", kRecord},
    {"capture/thread"_row, "{ n[0] = tid; }", kRecord},
    {"capture/name"_row, "{ s[0] = execname; }", kRecord},
    {"capture/number"_row, "{ n[0] = uid + gid; }", kRecord, kOneSize, {.uses = 2}},
    {"capture/argument"_row, "{ n[0] = arg0 + arg1 + arg2 + arg3; }", kRecord, kOneSize, {.uses = 4}},
    {"capture/bytes"_row, kRecordOfBytes, kRecord, kBytes, kShared},
    {"capture/string"_row, kRecordOfString, kRecord, kTexts, kShared},
    {"agent/lane/heap_bytes"_row, kRecordOfBytes, kRecord, kBytes, kOnHeap},
    {"agent/lane/heap_string"_row, kRecordOfString, kRecord, kTexts, kOnHeap},
    {"capture/stack"_row, kRecordOfStack, kRecord, kStacks},
    {"agent/lane/entered_frame"_row, kRecordOfStack, kRecord, {of_calls(kShallow), of_calls(kUsual)}, {.enters = true}},
    {"capture/stack_bytes"_row, kRecordOfStack, kRecord, kCopies},
    {"agent/site/fault"_row, kByUnreadable, kByReadable, {of_text(kShort), {}}, {.fails = true}},
    {"agent/lane/read"_row, kRecordOfString, "", kTexts, kInDvm},
    {"agent/lane/add"_row, BY_KEYS_AND_RECORD("16383"), BY_KEYS_AND_RECORD("7"), kOneSize, kAdding},
};

constexpr uint64_t kMostCopies = 1500;     // of a stack, that the ring has room for
constexpr uint64_t kActing = 500;          // calls of a sample that acts on the process: a signal takes long
constexpr double kShareOfRing = 0.15;      // share of a ring that the calls of a sample fill
constexpr double kRing = 1 << 22;          // bytes of a ring
constexpr const char* kRingSize = "8m";    // the option: half of it is the ring of a thread
constexpr uint64_t kWarmed = 150'000'000;  // ns in which dvm sees what memory an agent reads
constexpr uint64_t kMoreCalls = 8;         // times as many calls as for a trap
constexpr uint32_t kBurst = 1000;          // calls that are timed together

class PairMeter {
 public:
  PairMeter(BackendId backend, Bench& bench, vm::Profile& profile)
      : by_agent_(backend == BackendId::agent), execution_{EngineId::interp, backend}, bench_(bench), profile_(profile) {}

  // All of the cases, or those of one row. A case that may be refused leaves its row without a price.
  void measure(std::span<const PairCase> cases, std::optional<Row> only, bool (*may_be_refused)(const PairCase&)) {
    for (const PairCase& one : cases)
      if (!only || *only == one.row) profile_.forget(one.row.in(execution_));  // an older price would be taken for a known one
    for (const PairCase& one : cases) {
      bench_.progress(static_cast<size_t>(&one - cases.data()), cases.size());
      if (only && *only != one.row) continue;
      const Status measured = caught([&] { measure(one); });
      const std::string name = one.row.in(execution_).text();
      if (!measured && (only || !may_be_refused(one))) throw Error{fmt::format("{}: {}", name, measured.error().message)};
      if (!measured) bench_.warn(fmt::format("{} was not measured: {}", name, measured.error().message));
    }
  }

  // The extra cost of a firing for each function that returns after it.
  void measure_returns() {
    const auto traced = [&](const CallSize& size) {
      return difference(known({}, size, kCount).taken.thread, untraced({}, size));
    };
    const vm::Price few = traced({.depth = kShallow}), many = traced({.depth = kDeep});
    set("resume/return"_row,
        times({std::max(many.m - few.m, 0.0), 0, std::hypot(few.spread, many.spread)}, 1.0 / (kDeep - kShallow)));
  }

 private:
  void measure(const PairCase& one) {
    auto [price, things] = remainder(one, *one.sizes[0], one.with);
    if (one.sizes[1]) {
      const auto [more, of_more] = remainder(one, *one.sizes[1], one.how.larger.empty() ? one.with : one.how.larger);
      price = by_size(price, things, more, of_more - things);
    }
    set(one.row, times(price, 1 / one.how.uses));
  }

  void set(Row row, const vm::Price& ns) { profile_.set(row.in(execution_), times(ns, clocks_of_ns(profile_))); }

  // Ns that the model does not say, and the things that these are for.
  std::pair<vm::Price, double> remainder(const PairCase& one, const CallSize& size, std::string_view clauses) {
    const PairTerms& how = one.how;
    const LiveSide with = run(how, size, clauses);
    PairTerms plain = how;
    plain.text = TextPlace::data, plain.follows = plain.fails = false, plain.keys = PairTerms().keys;
    LiveSide without;
    if (!one.without.empty())
      without = by_agent_ ? run(plain, size, one.without) : known(plain, size, one.without);
    else if (!how.is_in_dvm)
      without.taken.thread = untraced(plain, size);
    const vm::Price price = how.is_in_dvm
                                ? beyond(difference(with.taken.handled, without.taken.handled), with.dvm - without.dvm)
                                : beyond(difference(with.taken.thread, without.taken.thread), with.thread - without.thread);
    if (by_agent_ && how.is_in_dvm) return {price, with.record_bytes};
    return {price, by_agent_ && size.things == 0 ? instructions(how, clauses) : size.things};
  }

  // Measured once for each script, depth, number of calls, and kind of probe.
  const LiveSide& known(const PairTerms& how, const CallSize& size, std::string_view clauses) {
    const auto key = std::tuple(size.depth, size.stack_bytes > 0, how.acts, how.probe, clauses);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    return known_.emplace(key, run(how, size, clauses)).first->second;
  }

  std::string script_of(std::string_view probe, std::string_view clauses, const CallSize& size) const {
    const auto things = static_cast<unsigned>(size.things);
    std::string script = fmt::format("{} {}", probe, expanded(std::string(clauses)));
    for (const auto& [what, by] : {std::pair("PROBE", std::string(probe)),
                                   {"RETURNS", std::string(probe == kModelled ? kModelledReturns : kReturns)},
                                   {"CHILD", std::to_string(child_->pid())},
                                   {"PARENT", std::to_string(getpid())},
                                   {"BYTES", std::to_string(things)},
                                   {"TEXT", std::string(things, 'x')}})
      script = replaced(script, what, by);
    return script;
  }

  // Counts the instructions of the last clause's predicate, in which two sizes differ.
  double instructions(const PairTerms& how, std::string_view clauses) const {
    const auto program = bench_.compile(script_of(how.probe, clauses, {}));
    if (!program || !program->clauses.back().predicate) return 0;
    return static_cast<double>(program->clauses.back().predicate->difo.text.size());
  }

  // The probe of a prediction. That of an agent is in some process.
  std::string_view modelled_probe(const PairTerms& how) const {
    if (!by_agent_) return how.probe;
    if (callee_of(how) == CalleeKind::nop) return "modelled1:a:f:marker";
    return how.probe == kReturns ? kModelledReturns : kModelled;
  }

  // What the model says of the script. Predicates of an agent's cases are false.
  LiveSide predicted(const PairTerms& terms, const CallSize& size, std::string_view clauses, const Settings& settings) const {
    const dif::Program program = or_throw(bench_.compile(script_of(modelled_probe(terms), clauses, size)));
    const dif::Program* programs[] = {&program};
    PredictOptions how;
    how.probability = by_agent_ ? 0 : 1;
    how.sizes.expected = std::max<double>(size.letters + 1, by_agent_ ? 1 : sizeof "dvm");
    how.sizes.frames = frames_of({.depth = size.depth});
    how.stack_bytes = size.stack_bytes;
    how.returns = terms.enters ? size.depth : 0;
    how.faults = terms.fails ? 1 : 0;
    how.keys = terms.keys;
    how.heap = terms.text == TextPlace::heap ? 1 : 0;
    how.sources["calibrated:::entry"] = {{"pid_emulated", 1}};
    dif::Options options;
    set_options(options, settings);
    if (by_agent_) how.agent = or_throw(find_agent_ways(programs, options, {}, how));
    const Prediction prediction = predict(programs, profile_, how);
    if (prediction.probes.empty() || (by_agent_ && !prediction.probes.front().agent))
      throw Error{"its script has no probe of a process"};
    const double ns = 1e9 / profile_.clock_hz;
    LiveSide all;
    for (const ProbePrediction& probe : prediction.probes) {
      all.thread += probe.thread.clocks * ns, all.dvm += (probe.firing.expected.clocks - probe.thread.clocks) * ns;
      all.record_bytes += probe.ring_bytes;
    }
    return all;
  }

  CalleeKind callee_of(const PairTerms& how) const {
    return how.callee.value_or(by_agent_ ? CalleeKind::framed : CalleeKind::emulated);
  }

  CalleeCalls calls(const PairTerms& how, const CallSize& size, double record_bytes) const {
    CalleeCalls made{callee_of(how), bench_.calls, size.depth, size.letters, how.acts ? TextPlace::heap : how.text};
    if (!by_agent_) {
      made.times = std::min(made.times, size.stack_bytes > 0 ? kMostCopies : how.acts ? kActing : made.times);
      return made;
    }
    made.times *= kMoreCalls, made.burst = kBurst, made.stays = size.depth > 0 && !how.enters;
    if (record_bytes > 0) made.times = std::min(made.times, static_cast<uint64_t>(kShareOfRing * kRing / record_bytes));
    return made;
  }

  noise::Middle untraced(const PairTerms& how, const CallSize& size) {
    const std::string series = by_agent_ ? fmt::format("agent {} ", static_cast<int>(callee_of(how))) : "";
    return measure_untraced(fmt::format("{}depth {}", series, size.depth), calls(how, size, 0), *child_, bench_);
  }

  // Throws if an agent would read memory of the child by system calls.
  void must_load() {
    const auto mappings = or_throw(mappings_of(child_->pid()));
    const MemoryCallers callers = find_memory_callers(child_->pid(), mappings, files_, {});
    if (!callers.unproven.empty()) throw Error{fmt::format("memory is read by system calls: {}", callers.unproven)};
  }

  // By an agent each in a process of its own: what it maps stays there.
  LiveSide run(const PairTerms& how, const CallSize& size, std::string_view clauses) {
    Settings settings = {{"ustackunwind", std::to_string(size.stack_bytes)}, {"destructive", how.acts ? "on" : "off"}};
    if (by_agent_) settings.emplace_back("ringsize", kRingSize);
    if (how.follows) settings.emplace_back("followfork", "");
    if (by_agent_ || !child_) child_ = or_throw(start_looping_child());
    if (by_agent_ && how.text == TextPlace::heap) must_load();
    LiveSide side = predicted(how, size, clauses, settings);
    LiveCase live{calls(how, size, side.record_bytes), script_of(how.probe, clauses, size), settings};
    live.fails = how.fails, live.is_uncounted = how.keys == kManyKeys && !how.is_in_dvm;
    if (by_agent_) {
      live.by = how.is_in_dvm ? LiveCase::By::agent : LiveCase::By::agent_in_thread;
      live.warmed = static_cast<uint64_t>(side.record_bytes > 0 ? 2 * kRing / side.record_bytes : 0);
      live.warmed_ns = how.text == TextPlace::heap ? kWarmed : 0;
    }
    side.taken = measure_live(fmt::format("{} {} {} {} depth {} {} letters {} {} bytes {} {} {}", by_agent_ ? "agent" : "uprobe",
                                          static_cast<int>(callee_of(how)), how.probe, clauses, size.depth, how.enters,
                                          size.letters, static_cast<int>(how.text), size.stack_bytes, how.follows, size.things),
                              live, *child_, bench_);
    return side;
  }

  const bool by_agent_;
  const Execution execution_;
  Bench& bench_;
  vm::Profile& profile_;
  std::optional<LoopingChild> child_;
  ModuleCodes files_;
  std::map<std::tuple<uint32_t, bool, bool, std::string_view, std::string_view>, LiveSide> known_;
};

std::vector<Row> capture_rows() {
  std::vector<Row> rows = rows_of(kCaptureCases);
  rows.push_back("resume/return"_row);
  return rows;
}

void measure_captures(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  PairMeter meter(BackendId::local, bench, profile);
  // Where the kernel hides its symbols it has no stack.
  meter.measure(kCaptureCases, only, [](const PairCase& one) { return one.how.callee == CalleeKind::system_call; });
  if (!only || *only == "resume/return"_row) meter.measure_returns();
}

// Those that no other meter has.
std::vector<Row> agent_rows() {
  std::vector<Row> rows = rows_of(kAgentCases);
  std::erase_if(rows, [](Row row) { return !row.folder().starts_with("agent/"); });
  return rows;
}

// If the agent is refused, it is so of the first case.
void measure_agent(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  PairMeter(BackendId::agent, bench, profile).measure(kAgentCases, only, [](const PairCase& one) { return &one != kAgentCases; });
}

}  // namespace

std::span<const PairCase> agent_cases() { return kAgentCases; }

extern const Meter kCaptureMeter = {"captures", "captures were", capture_rows, measure_captures};
extern const Meter kAgentMeter = {"the agent", "the stages of an agent were", agent_rows, measure_agent};

}  // namespace dvm::lab
