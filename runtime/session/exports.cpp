// Tested by tests/runtime/scenarios/test_prometheus.py.

#include "runtime/session/exports.h"

#include <string>
#include <utility>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kRest = 20;  // after a snapshot, times as long as it took of CPU time

}  // namespace

void Exports::add_counts(Snapshot& snapshot) const {
  FiringCounts all;
  for (const auto& backend : backends_) {
    const FiringCounts counts = backend->counts();
    all.firings += counts.firings, all.late_reads += counts.late_reads, all.late_values += counts.late_values;
  }
  const auto add = [&](const char* name, const char* help, Number value) {
    snapshot.metrics.push_back(plain_metric(name, help, MetricKind::counter, value));
  };
  add("firings", "Firings that clauses ran on", all.firings);
  add("late_reads", "Reads of memory that was not captured at the firing", all.late_reads);
  add("late_values", "Values that were read after the process had continued", all.late_values);
  add("cpu_seconds", "CPU time that dvm has used, its exporters included",
      static_cast<double>(read_clock(CLOCK_PROCESS_CPUTIME_ID)) / 1e9);
}

void Exports::add_drops(Snapshot& snapshot) const {
  Drops all;
  for (const auto& backend : backends_) all += backend->drops();
  Metric drops = labelled_metric("drops", "Data lost while tracing", MetricKind::counter, {"kind"});
  for (const DropInfo& kind : kDrops) add_point(drops, {std::string(kind.name)}, all.total(kind.id));
  snapshot.metrics.push_back(std::move(drops));
}

// From a sample of the firings, so a time may fall.
void Exports::add_stages(Snapshot& snapshot) const {
  const Account account = accounting_.summary();
  Metric stages =
      labelled_metric("stage_seconds", "Time in a stage of the account, extrapolated from the firings that were timed",
                      MetricKind::sum, {"stage"});
  for (const auto& [name, tally] : account.stages) {
    if (tally.timed == 0 || account.ticks_per_second <= 0) continue;
    const double each = static_cast<double>(tally.ticks) / static_cast<double>(tally.timed);
    add_point(stages, {name}, each * static_cast<double>(tally.count) / account.ticks_per_second);
  }
  if (!stages.points.empty()) snapshot.metrics.push_back(std::move(stages));
}

void Exports::end() {
  end_ = read_clock(CLOCK_REALTIME);
  if (config_.exporter) config_.exporter->end();
}

void Exports::publish() {
  if (!config_.exporter || read_clock(CLOCK_MONOTONIC) < next_) return;
  const bool is_first = begin_ == 0;  // it prepares what the others need
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  publish(config_.exporter->wanted());
  const uint64_t took = read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
  if (!is_first) next_ = read_clock(CLOCK_MONOTONIC) + kRest * took;
}

void Exports::publish_last() {
  if (config_.exporter) publish({.totals = true, .points = true, .is_last = true});
}

void Exports::publish(const SnapshotParts& parts) {
  Snapshot snapshot;
  snapshot.time = parts.is_last ? end_ : read_clock(CLOCK_REALTIME);
  if (begin_ == 0) begin_ = snapshot.time;
  aggregations_.add(consumer_.aggregations(), snapshot, parts);
  add_counts(snapshot);
  add_drops(snapshot);
  if (config_.cost != vm::CostPolicy::none && config_.is_timed) add_stages(snapshot);
  for (Metric& metric : snapshot.metrics)
    if (metric.since == 0) metric.since = begin_;
  config_.exporter->publish(std::move(snapshot));
}

}  // namespace dvm::runtime
