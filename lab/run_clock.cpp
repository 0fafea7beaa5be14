// Covered by tests/runtime/scenarios/test_cost.py.

#include "lab/run_clock.h"

#include "runtime/cost/machine.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kTickInterval = 20'000'000;  // ns

}  // namespace

RunClock read_run_clock(Handle& handle) {
  static const double rate = tick_rate(kTickInterval) / 1e9;
  const Account account = handle.account(false);  // what has to be added up for clauses would be in the caches then
  RunClock clock;
  clock.firings = static_cast<double>(account.events);
  clock.files = static_cast<double>(account.reading_ns + account.writing_ns);
  for (const auto& [step, tally] : account.consumer) clock.steps += static_cast<double>(tally.count);
  for (const auto& [stage, tally] : account.stages) {
    const bool is_print = stage == "print";
    if (!is_print && !stage.starts_with("snapshot_")) continue;
    (is_print ? clock.prints : clock.reads) += static_cast<double>(tally.count);
    clock.consumer += static_cast<double>(tally.ticks) / rate;
  }
  return clock;
}

RunClock operator-(const RunClock& now, const RunClock& before) {
  return {now.firings - before.firings, now.reads - before.reads,       now.steps - before.steps,
          now.prints - before.prints,   now.consumer - before.consumer, now.files - before.files};
}

}  // namespace dvm::runtime
