// The costs of captures (captures.def), of ustack(), and of what acts on the process that fired, from scripts on the looping
// child that do one thing more than a script that only counts. The profile's prices for the rest of the difference are
// subtracted. Rows with a price by size are measured with two sizes. The kernel stack is that of a system call of the child, some
// six frames.
//
// No other process is affected: the child ignores the signal, a stop is followed by the signal that ends it, and the bytes that
// are written stood there already.
//
// Covered by tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "lab/calibrate/live_cases.h"
#include "lab/calibrate/live_run.h"
#include "lab/calibrate/script_meter.h"
#include "runtime/cost/predict.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr const char* kProbe = "calibrated:::entry";
constexpr const char* kCall = "syscall::getppid:entry";
constexpr uint64_t kMostCopies = 1500;  // of a stack, that the ring has room for
constexpr uint64_t kActing = 500;       // calls of a sample that acts on the process: a signal takes long

enum class Fires : uint8_t { function, system_call, acting };  // acting: a function, and dvm acts on the process

struct CaptureCase {
  Row row;
  bool is_in_dvm;
  // {0}: the size's things, {1}: the parent of the process, {2}: a signal that it ignores, {3}: the signal that ends a stop, {4}:
  // a text of so many letters
  const char* actions;
  CallSizes sizes = kOneSize;
  Fires fires = Fires::function;
  unsigned uses = 1;  // of the row; where dvm acts, the actions are repeated as often
  const char* setup = "";
};

constexpr const char *kByStack = "@[ustack()] = count();", *kCounted = "@ = count(); ",
                     *kCopied = "@ = count(); this->copied = copyin(arg0, {0});";
constexpr CallSizes kBytes = {of_bytes(8), of_bytes(kLong)};
const CaptureCase kCases[] = {
    {"capture/time"_row, false, "@ = sum(timestamp);"},
    {"capture/cpu_time"_row, false, "@ = sum(vtimestamp);"},
    {"capture/thread"_row, false, "@ = sum(tid);"},
    {"capture/name"_row, false, "@[execname] = count();"},
    {"capture/argument"_row, false, "@ = sum(arg0 + arg1 + arg2 + arg3);", kOneSize, Fires::function, 4},
    {"capture/bytes"_row, false, "@ = sum(*(uint64_t *)copyin(arg0, {0}));", kBytes},
    {"capture/string"_row, false, "@[copyinstr(arg0)] = count();", {of_text(kShort), of_text(kLong)}},
    {"capture/stack"_row, false, kByStack, kStacks},
    {"capture/kernel_stack"_row, false, "@ = sum(stackdepth);", kOneSize, Fires::system_call},
    {"action/ustack"_row, true, kByStack, kStacks},
    {"capture/stack_bytes"_row, false, kByStack, {of_copy(1024), of_copy(4096)}},
    {"capture/unwind"_row, true, kByStack, {of_stack(kShallow, 4096), of_stack(kDeep, 4096)}},
    {"action/raise"_row, true, "raise({2});", kOneSize, Fires::acting, 4, kCounted},
    {"action/stop"_row, true, "stop(); raise({3});", kOneSize, Fires::acting, 1, kCounted},
    {"subroutine/progenyof"_row, true, "this->is_child = progenyof({1});", kOneSize, Fires::acting, 16, kCounted},
    {"subroutine/copyout"_row, true, "copyout(this->copied, arg0, {0});", kBytes, Fires::acting, 4, kCopied},
    {"subroutine/copyoutstr"_row, true, "copyoutstr(\"{4}\", arg0, {0});", kBytes, Fires::acting, 4, kCounted},
};

std::string clause_of(const CaptureCase& one, const CallSize& size) {
  const auto things = static_cast<unsigned>(size.things);
  const std::string text = expanded(fmt::format("{}<{}|{}|>", one.setup, one.fires == Fires::acting ? one.uses : 1, one.actions));
  return fmt::format("{{ {} }}", fmt::format(fmt::runtime(text), things, getpid(), SIGURG, SIGCONT, std::string(things, 'x')));
}

// The profile's prediction for a firing.
LiveSide predicted(const dif::Program& program, const CallSize& size, const vm::Profile& profile) {
  PredictOptions how;
  how.probability = 1;
  how.sizes.expected = std::max(size.letters + 1.0, static_cast<double>(sizeof "dvm"));
  how.sizes.frames = frames_of({.depth = size.depth});
  how.stack_bytes = size.stack_bytes;
  how.sources[kProbe] = {{"pid_emulated", 1}};
  const Prediction prediction = predict(program, profile, how);
  if (prediction.probes.empty()) return {};
  const ProbePrediction& probe = prediction.probes.front();
  const double ns = 1e9 / profile.clock_hz;
  return {{}, probe.thread.clocks * ns, (probe.firing.expected.clocks - probe.thread.clocks) * ns};
}

class CaptureMeter {
 public:
  CaptureMeter(LoopingChild& child, Bench& bench, vm::Profile& profile) : child_(child), bench_(bench), profile_(profile) {}

  // The extra cost of a firing for each function that returns after it.
  void measure_returns() {
    const vm::Price few = traced_more(kShallow), many = traced_more(kDeep);
    const double more = kDeep - kShallow;
    profile_.set("resume/return"_row, times({std::max(many.m - few.m, 0.0) / more, 0, std::hypot(few.spread, many.spread) / more},
                                            clocks_of_ns(profile_)));
  }

  void measure(const CaptureCase& one) {
    vm::Price ns = remainder(one, *one.sizes[0]);
    if (const auto& larger = one.sizes[1])
      ns = by_size(ns, one.sizes[0]->things, remainder(one, *larger), larger->things - one.sizes[0]->things);
    profile_.set(one.row, times(ns, clocks_of_ns(profile_) / one.uses));
  }

 private:
  // Extra ns of a traced call through so many functions.
  vm::Price traced_more(uint32_t depth) {
    const CallSize size{0, depth};
    const StubCalls calls{StubKind::emulated, bench_.calls, depth, 0};
    return difference(counting(size).taken.thread, measure_untraced(fmt::format("depth {}", depth), calls, child_, bench_));
  }

  // Ns that the profile does not predict.
  vm::Price remainder(const CaptureCase& one, const CallSize& size) {
    const LiveSide with = run(clause_of(one, size), size, one.fires);
    return unsaid(with, counting(size, one.fires), one.is_in_dvm);
  }

  // Once for each depth, number of calls, and kind of probe.
  const LiveSide& counting(const CallSize& size, Fires fires = Fires::function) {
    const auto key = std::tuple(size.depth, size.stack_bytes > 0, fires);
    if (const auto known = counting_.find(key); known != counting_.end()) return known->second;
    return counting_.emplace(key, run("{ @ = count(); }", size, fires)).first->second;
  }

  // Others make system calls too, which the predicate keeps away.
  LiveSide run(const std::string& clause, const CallSize& size, Fires fires) {
    const bool is_system_call = fires == Fires::system_call, acts = fires == Fires::acting;
    const std::string only = is_system_call ? fmt::format("/pid == {}/ ", child_.pid()) : "";
    const std::string probe = is_system_call ? kCall : kProbe, script = fmt::format("{} {}{}", probe, only, clause);
    const dif::Program program = or_throw(bench_.compile(script));
    const uint64_t most = size.stack_bytes > 0 ? kMostCopies : acts ? kActing : bench_.calls;
    const uint64_t calls = std::min(bench_.calls, most);
    LiveCase live{{is_system_call ? StubKind::system_call : StubKind::emulated, calls, size.depth, size.letters}, script, {}};
    live.calls.is_on_heap = acts;
    live.settings = {{"ustackunwind", std::to_string(size.stack_bytes)}, {"destructive", acts ? "on" : "off"}};
    const std::string series =
        fmt::format("{} {} depth {} letters {} bytes {}", probe, clause, size.depth, size.letters, size.stack_bytes);
    LiveSide side = predicted(program, size, profile_);
    side.taken = measure_live(series, live, child_, bench_);
    return side;
  }

  LoopingChild& child_;
  Bench& bench_;
  vm::Profile& profile_;
  std::map<std::tuple<uint32_t, bool, Fires>, LiveSide> counting_;
};

std::vector<Row> capture_rows() {
  std::vector<Row> rows = rows_of(kCases);
  rows.push_back("resume/return"_row);
  return rows;
}

void measure_captures(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  LoopingChild child = or_throw(start_looping_child());
  CaptureMeter meter(child, bench, profile);
  for (const CaptureCase& one : kCases) {
    if (only && *only != one.row) continue;
    const bool may_be_refused =
        one.fires == Fires::system_call && !only;  // where the kernel hides its symbols; it then has no price
    if (!may_be_refused) profile.set(one.row, {});
    const Status measured = caught([&] { meter.measure(one); });
    if (!measured && !may_be_refused) throw Error{fmt::format("{}: {}", one.row.name(), measured.error().message)};
    if (!measured) bench.warn(fmt::format("the kernel stack was not measured: {}", measured.error().message));
  }
  if (!only || *only == "resume/return"_row) meter.measure_returns();
}

}  // namespace

extern const Meter kCaptureMeter = {"captures", "captures were", capture_rows, measure_captures};

}  // namespace dvm::lab
