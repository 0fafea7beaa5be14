// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/live_meter.h"

#include <fmt/format.h>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/calibrate/looping_child.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {
namespace {

constexpr const char* kCounting = "calibrated:::firing { @ = count(); }";

struct LiveSource {
  const char* name;
  Stub stub;
  bool is_return;
};

// Ns of a call in the child's CPU time, and of a firing in dvm's.
struct LiveSample {
  double traced = 0, handled = 0;
};

// One attachment, `samples` rounds.
class LiveRun {
 public:
  static Result<std::unique_ptr<LiveRun>> start(const LiveSource& source, const dif::Program& program, LoopingChild& child) {
    std::unique_ptr<LiveRun> run(new LiveRun(child, source));
    if (!run->nowhere_) return Error{"failed to open /dev/null"};
    HandleConfig config;
    config.out = config.err = run->nowhere_.get();
    if (Status set = set_options(config.options, {{"quiet", ""}, {"switchrate", "10ms"}, {"aggrate", "1h"}}); !set)
      return set.error();
    Result<uint64_t> offset = offset_of(source.stub);
    if (!offset) return offset.error();
    run->handle_ = std::make_unique<Handle>(config);
    Handle& handle = *run->handle_;
    handle.add_instrument(make_uprobe_instrument());
    handle.catalog().add({.provider = "calibrated",
                          .name = "firing",
                          .site = UprobeSite{fmt::format("/proc/{}/exe", child.pid()), *offset, source.is_return, child.pid()}});
    if (Status enabled = handle.enable(program); !enabled) return enabled.error();
    std::vector<Refused> refused;
    if (Status went = handle.go(refused); !went) return went.error();
    if (!refused.empty()) return Error{refused.front().reason};
    return run;
  }

  Result<LiveSample> sample(uint64_t calls) {
    const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    if (Status called = child_.call(source_.stub, calls); !called) return called.error();
    while (!child_.is_done() && handle_->work()) {
    }
    Result<double> traced = child_.finish();
    if (!traced) return traced.error();
    handle_->work();  // what is left in the ring
    const auto handled = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
    return LiveSample{*traced, handled / static_cast<double>(calls)};
  }

  // After the last sample: every call must have been counted.
  Status stop(uint64_t calls) {
    if (Status stopped = handle_->stop(); !stopped) return stopped;
    const uint64_t lost = handle_->instrument_drops();
    return lost == 0 ? Status() : Error{fmt::format("{} of {} firings were lost", lost, calls)};
  }

 private:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

  LiveRun(LoopingChild& child, const LiveSource& source) : child_(child), source_(source) {}

  LoopingChild& child_;
  LiveSource source_;
  File nowhere_{std::fopen("/dev/null", "we"), std::fclose};
  std::unique_ptr<Handle> handle_;
};

Result<std::vector<double>> untraced(LoopingChild& child, Stub stub, const LiveMeterOptions& options) {
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    if (Status called = child.call(stub, options.calls); !called) return called.error();
    Result<double> taken = child.finish();
    if (!taken) return taken.error();
    samples.push_back(*taken);
  }
  return samples;
}

// What the ECB takes that counts.
double counted(const vm::Profile& profile) {
  double clocks = 0;
  for (const char* row : {"prepare/machine", "prepare/ecb", "aggregation/count"})
    if (const vm::Price* found = profile.find(row)) clocks += found->m;
  return clocks / profile.clock_hz * 1e9;
}

Status measure(const LiveSource& source, const dif::Program& program, const LiveMeterOptions& options, vm::Profile& profile) {
  auto child = LoopingChild::start();
  if (!child) return child.error();
  Result<std::vector<double>> without = untraced(**child, source.stub, options);
  if (!without) return without.error();
  auto run = LiveRun::start(source, program, **child);
  if (!run) return run.error();
  std::vector<double> traced, handled;
  for (unsigned i = 0; i < options.samples; i++) {
    Result<LiveSample> sample = (*run)->sample(options.calls);
    if (!sample) return sample.error();
    traced.push_back(sample->traced), handled.push_back(sample->handled);
  }
  if (Status stopped = (*run)->stop(options.samples * options.calls); !stopped) return stopped;
  const std::string row = fmt::format("source/{}/", source.name);
  const double clocks = profile.clock_hz / 1e9;  // a ns
  profile.set(row + "trigger", times(difference(middle(traced), middle(*without)), clocks));
  profile.set(row + "handler", times(difference(middle(handled), {counted(profile), 0}), clocks));
  return {};
}

}  // namespace

Status measure_pid_sources(const CompileScript& compile, const LiveMeterOptions& options, vm::Profile& profile) {
  Result<dif::Program> program = compile(kCounting);
  if (!program) return program.error();
  for (const LiveSource& source :
       {LiveSource{"pid_emulated", Stub::emulated, false}, {"pid", Stub::stepped, false}, {"pid_return", Stub::emulated, true}})
    if (Status measured = measure(source, *program, options, profile); !measured) return measured;
  return {};
}

}  // namespace dvm::runtime
