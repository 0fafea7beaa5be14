// What a thread's first firing behind a rest takes more in it than when one follows another (rows.h). A child makes a few calls
// in each millisecond and sleeps, or makes them one after the other; the former take more even if nobody traces them, and that is
// taken off.
//
// Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lab/calibrate/live_run.h"
#include "lab/calibrate/meter.h"
#include "lab/noise/apart.h"
#include "lab/price_of.h"
#include "runtime/cost/rows.h"

namespace dvm::runtime {
namespace {

struct RestedCase {
  Row row;
  Stub stub;
  const char* probe;
  const char* predicate;  // {}: the child
};
constexpr RestedCase kCases[] = {{"rested/process"_row, Stub::emulated, "calibrated:::entry", ""},
                                 {"rested/kernel"_row, Stub::system_call, "syscall::getppid:entry", "/pid == {}/"}};

// Few, or what the first one takes more is lost among them; what the next ones take more, too, is in it.
constexpr uint32_t kBurst = 8;
constexpr uint64_t kBursts = 40;  // a sample

// Ns that a burst behind a rest takes more than one behind another.
template <class Call>
Result<noise::QuietSample> behind_rest(Stub stub, const Call& call) {
  StubCalls calls{.stub = stub, .times = kBurst * kBursts, .burst = kBurst};
  const Result<noise::QuietSample> busy = call(calls);
  if (!busy) return busy.error();
  calls.rests = true;
  const Result<noise::QuietSample> rested = call(calls);
  if (!rested) return rested.error();
  return noise::QuietSample{kBurst * (rested->value - busy->value), busy->is_quiet && rested->is_quiet};
}

class RestMeter {
 public:
  RestMeter(const RestedCase& one, LoopingChild& child, const dif::Program& program)
      : one_(one), child_(child), program_(program), live_{.calls = {.stub = one.stub}, .script = {}} {}

  // Ns more than that where it is traced: what others leave of the caches differs from one second to the next, so one right after
  // the other.
  Result<noise::QuietSample> sample() {
    const auto untraced = behind_rest(one_.stub, [&](const StubCalls& calls) -> Result<noise::QuietSample> {
      if (Status called = child_.call(calls); !called) return called.error();
      return child_.finish();
    });
    if (!untraced) return untraced.error();
    LiveRun run(live_, std::array{&child_});
    if (Status started = run.start(program_); !started) return started.error();
    const auto traced = behind_rest(one_.stub, [&](const StubCalls& calls) { return run.thread(calls); });
    if (!traced) return traced.error();
    return noise::QuietSample{traced->value - untraced->value, traced->is_quiet && untraced->is_quiet};
  }

 private:
  const RestedCase& one_;
  LoopingChild& child_;
  const dif::Program& program_;
  LiveCase live_;
};

Status measure(const RestedCase& one, const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kRuns = 3;
  const auto child = LoopingChild::start();
  if (!child) return child.error();
  const noise::Placed apart = noise::Placed::apart((*child)->pid());
  const std::string predicate = fmt::format(fmt::runtime(one.predicate), (*child)->pid());
  const auto program = compile(fmt::format("{} {} {{ @ = count(); }}", one.probe, predicate));
  if (!program) return program.error();
  RestMeter meter(one, **child, *program);
  noise::QuietSamples more(kRuns * options.samples);
  while (more.wants_more()) {
    const Result<noise::QuietSample> sample = meter.sample();
    if (!sample) return sample.error();
    more.add(*sample);
  }
  // Who uses the caches while the child rests makes it longer, and no gauge sees him: of a pass the quicker samples count.
  const noise::Middle rested = noise::settle_middle(options.book, one.row.name(), more.middle(), more.is_quiet());
  profile.set(one.row, times({std::max(rested.median, 0.0), 0, rested.deviation()}, profile.clock_hz / 1e9));
  return {};
}

std::vector<Row> rest_rows() {
  std::vector<Row> rows;
  for (const RestedCase& one : kCases) rows.push_back(one.row);
  return rows;
}

Status measure_rests(const Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  for (const RestedCase& one : kCases)
    if (!only || *only == one.row)
      if (Status measured = measure(one, bench.compile, bench.scripts, profile); !measured) return measured;
  return {};
}

}  // namespace

const Meter kRestMeter = {"rests", "firings after idle time were", rest_rows, measure_rests};

}  // namespace dvm::runtime
