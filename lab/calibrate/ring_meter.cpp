// Covered by tests/runtime/scenarios/test_cost.py.

#include "lab/calibrate/ring_meter.h"

#include <sched.h>

#include <array>

#include "lab/calibrate/live_run.h"
#include "lab/price_of.h"

namespace dvm::runtime {
namespace {

constexpr const char* kRow = "ring/shared";

}  // namespace

std::vector<std::string> ring_rows() { return {kRow}; }

namespace {

// On CPUs of their own, or neither waits for the other; where there is one CPU they never do.
void spread(const LoopingChild& first, const LoopingChild& second) {
  cpu_set_t all, own, other;
  if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return;
  CPU_ZERO(&own);
  for (int cpu = 0; CPU_COUNT(&own) == 0; cpu++)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &own);
  CPU_XOR(&other, &all, &own);
  sched_setaffinity(first.pid(), sizeof own, &own);
  sched_setaffinity(second.pid(), sizeof other, &other);
}

}  // namespace

Status measure_ring(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  LiveCase one{{Stub::emulated, options.firings}, "calibrated:::entry { @ = count(); }"};
  one.calls.hurries = true;
  const Result<dif::Program> program = compile(one.script);
  if (!program) return program.error();
  const auto first = LoopingChild::start(), second = LoopingChild::start();
  for (const auto* child : {&first, &second})
    if (!*child) return child->error();
  spread(**first, **second);
  LiveRun run(one, std::array{first->get(), second->get()});
  if (Status started = run.start(*program); !started) return started;
  constexpr unsigned kRuns = 4;
  noise::QuietSamples alone(kRuns * options.samples), both(kRuns * options.samples);
  while (alone.wants_more() || both.wants_more())
    for (const auto& [callers, samples] : {std::pair(size_t{1}, &alone), {size_t{2}, &both}}) {
      const Result<LiveSample> sample = run.sample(callers);
      if (!sample) return sample.error();
      samples->add(sample->thread);
    }
  const noise::Middle of_both = noise::settle_middle(options.book, "ring both", both.plain_middle(), both.is_quiet()),
                      of_alone = noise::settle_middle(options.book, "ring alone", alone.plain_middle(), alone.is_quiet());
  profile.set(kRow, times(difference(of_both, of_alone), profile.clock_hz / 1e9));
  return {};
}

}  // namespace dvm::runtime
