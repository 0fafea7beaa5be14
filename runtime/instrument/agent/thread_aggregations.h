#pragma once
// The aggregations of clauses that run in traced threads.

#include <functional>
#include <utility>

#include "runtime/instrument/agent/late_updates.h"

namespace dvm::runtime {

// What threads have aggregated since the last visit.
class ThreadAggregations final : public AggregationSource {
 public:
  using Collect = std::function<void(const Visit&)>;
  ThreadAggregations(Collect collect, const LateUpdates& late) : collect_(std::move(collect)), late_(late) {}
  void visit(const Visit& each) const override { collect_(each); }
  void clear() noexcept override {}
  bool empty() const noexcept override { return is_empty; }
  bool wants_reading() const noexcept override { return late_.wants_reading() || are_many; }

  bool is_empty = true;   // no clause aggregates there
  bool are_many = false;  // programs that were left, and wait to be read

 private:
  Collect collect_;
  const LateUpdates& late_;
};

}  // namespace dvm::runtime
