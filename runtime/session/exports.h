#pragma once
// Makes snapshots for an exporter: all aggregations, and dvm's own metrics. Consumer context. Does nothing without an exporter.

#include <cstdint>

#include "dvm/runtime/handle.h"
#include "runtime/backend/backend.h"
#include "runtime/consumer/aggregation_metrics.h"
#include "runtime/consumer/consumer.h"
#include "runtime/session/accounting.h"

namespace dvm::runtime {

class Exports {
 public:
  Exports(const HandleConfig& config, const Enabling& enabling, Consumer& consumer, const BackendList& backends,
          const Accounting& accounting)
      : config_(config),
        consumer_(consumer),
        backends_(backends),
        accounting_(accounting),
        aggregations_(config.options, enabling, consumer.made()) {}

  // Publishes the data that the consumer has taken so far. Snapshots take at most a twentieth of the time: after a slow one, the
  // next calls do nothing.
  void publish();
  // Call before the results are printed.
  void end();
  // Call after the results are printed. Publishes everything, with the names of all keys.
  void publish_last();

 private:
  void publish(const SnapshotParts& parts);
  void add_counts(Snapshot& snapshot) const;
  void add_drops(Snapshot& snapshot) const;
  void add_stages(Snapshot& snapshot) const;

  const HandleConfig& config_;
  Consumer& consumer_;
  const BackendList& backends_;
  const Accounting& accounting_;
  AggregationMetrics aggregations_;
  uint64_t begin_ = 0;  // walltimestamp of the first snapshot
  uint64_t end_ = 0;    // walltimestamp of the end of tracing
  uint64_t next_ = 0;   // ns, CLOCK_MONOTONIC: earliest time of the next snapshot
};

}  // namespace dvm::runtime
