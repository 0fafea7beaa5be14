// What two CPUs that fire at the same time take from each other: the ring that their records go to has one lock and one place to
// write to. Two children call a function that is traced by one session, first one of them, then both.
//
// Covered by tests/runtime/scenarios/test_cost.py.

#include <sched.h>

#include <array>

#include "lab/calibrate/live_run.h"
#include "lab/calibrate/meter.h"
#include "lab/price_of.h"

namespace dvm::runtime {
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

std::vector<Row> ring_rows() { return {"ring/shared"_row}; }

Status measure_ring(const Bench& bench, std::optional<Row>, vm::Profile& profile) {
  const ScriptMeterOptions& options = bench.scripts;
  LiveCase one{{Stub::emulated, options.firings}, "calibrated:::entry { @ = count(); }"};
  one.calls.hurries = true;
  const Result<dif::Program> program = bench.compile(one.script);
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
  profile.set("ring/shared"_row, times(difference(of_both, of_alone), profile.clock_hz / 1e9));
  return {};
}

}  // namespace

const Meter kRingMeter = {"ring", "the ring was", ring_rows, measure_ring};

}  // namespace dvm::runtime
