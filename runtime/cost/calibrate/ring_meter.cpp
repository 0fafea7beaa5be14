// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/ring_meter.h"

#include <array>

#include "runtime/cost/calibrate/live_run.h"

namespace dvm::runtime {
namespace {

constexpr const char* kRow = "ring/shared";

}  // namespace

std::vector<std::string> ring_rows() { return {kRow}; }

Status measure_ring(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  const LiveCase one{{Stub::emulated, options.firings}, "calibrated:::entry { @ = count(); }"};
  const Result<dif::Program> program = compile(one.script);
  if (!program) return program.error();
  const auto first = LoopingChild::start(), second = LoopingChild::start();
  for (const auto* child : {&first, &second})
    if (!*child) return child->error();
  LiveRun run(one, std::array{first->get(), second->get()});
  if (Status started = run.start(*program); !started) return started;
  std::vector<double> alone, both;
  for (unsigned i = 0; i < options.samples; i++)
    for (const auto& [callers, samples] : {std::pair(size_t{1}, &alone), {size_t{2}, &both}}) {
      const Result<LiveSample> sample = run.sample(callers);
      if (!sample) return sample.error();
      samples->push_back(sample->thread.value);
    }
  const Middle of_both = settle(options.book, "ring both", quiet_middle(both)),
               of_alone = settle(options.book, "ring alone", quiet_middle(alone));
  profile.set(kRow, times(difference(of_both, of_alone), profile.clock_hz / 1e9));
  return {};
}

}  // namespace dvm::runtime
