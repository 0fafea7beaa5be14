// Tested by tests/unit/runtime/handle_test.cpp.

#include "runtime/session/collector.h"

#include <x86intrin.h>

#include <algorithm>
#include <utility>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

// Adds the ticks of its scope to a stage of the account. What the consumer does is rare enough to be timed always.
class StageTimer {
 public:
  explicit StageTimer(vm::Tally& stage) : stage_(stage), begin_(__rdtsc()) {}
  ~StageTimer() { stage_.count++, stage_.timed++, stage_.ticks += __rdtsc() - begin_; }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  vm::Tally& stage_;
  uint64_t begin_;
};

}  // namespace

void Collector::take_aggregations() {
  StageTimer timer(stages_[Stage::snapshot_aggregations]);
  for (const auto& backend : backends_) consumer_.take(backend->aggregations());
}

void Collector::take_records() {
  std::vector<RecordLane> lanes;
  {
    StageTimer timer(stages_[Stage::snapshot_records]);
    for (const auto& backend : backends_) {
      std::vector<RecordLane> taken = backend->records().take_records();
      lanes.insert(lanes.end(), taken.begin(), taken.end());
    }
  }
  StageTimer timer(stages_[Stage::print]);
  consumer_.consume(std::move(lanes));
}

// trunc(), clear() and printa() act on all that was aggregated before them, also where aggregations are taken less often.
void Collector::take_due(bool is_switched) {
  if (!is_switched) return;
  const bool is_any =
      std::any_of(backends_.begin(), backends_.end(), [](const auto& one) { return !one->aggregations().empty(); });
  if (consumer_.uses_aggregations() && is_any) take_aggregations();
  take_records();
}

void Collector::take_all() {
  take_aggregations();
  take_records();
}

Status Collector::make_room(Backend& backend) {
  Status flushed;
  if (backend.records().wants_reading()) take_all(), flushed = flush();
  if (backend.aggregations().wants_reading()) take_aggregations();
  return flushed;
}

Status Collector::flush() {
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  Status status = consumer_.flush();
  writing_ns_ += read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
  return status;
}

}  // namespace dvm::runtime
