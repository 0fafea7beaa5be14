#pragma once
// Moves data from the backends' buffers to the consumer, and from there to the files. Consumer context, between two polls.

#include <cstdint>
#include <span>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/backend/backend.h"
#include "runtime/consumer/consumer.h"
#include "runtime/probe/stages.h"

namespace dvm::runtime {

class Collector {
 public:
  Collector(Consumer& consumer, const BackendList& backends, Stages& stages)
      : consumer_(consumer), backends_(backends), stages_(stages) {}

  void take_aggregations();
  // Takes what is due at switchrate. is_switched: records are read while tracing, not only at its end.
  void take_due(bool is_switched);
  // Takes aggregations first, so that a printa() sees all earlier firings.
  void take_all();
  // Empties buffers that are nearly full, before records are dropped.
  Status make_room(Backend& backend);
  // Writes the printed text.
  Status flush();
  // CPU time spent writing, in ns.
  uint64_t writing_ns() const { return writing_ns_; }

 private:
  void take_records();

  Consumer& consumer_;
  const BackendList& backends_;
  Stages& stages_;
  uint64_t writing_ns_ = 0;
};

}  // namespace dvm::runtime
