// Tested by tests/unit/runtime/record_merge_test.cpp.

#include "runtime/consumer/record_merge.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

uint64_t order_of(const RecordLane& lane) { return header_of(lane.records.data()).order; }
bool is_older(const RecordLane& a, const RecordLane& b) { return order_of(a) < order_of(b); }

}  // namespace

// BEGIN, which has the oldest record, is never behind a CPU with a lower number.
RecordMerge::RecordMerge(std::vector<RecordLane> lanes, bool is_temporal) : lanes_(std::move(lanes)), is_temporal_(is_temporal) {
  if (!is_temporal_ && !lanes_.empty())
    std::rotate(lanes_.begin(), std::min_element(lanes_.begin(), lanes_.end(), is_older), lanes_.end());
}

// The lane with the oldest record, until another has an older one.
void RecordMerge::choose() {
  std::erase_if(lanes_, [](const RecordLane& lane) { return lane.records.empty(); });
  current_ = nullptr;
  limit_ = UINT64_MAX;
  if (lanes_.empty()) return;
  auto first = is_temporal_ ? std::min_element(lanes_.begin(), lanes_.end(), is_older) : lanes_.begin();
  current_ = &*first;
  if (!is_temporal_) return;
  for (const RecordLane& lane : lanes_)
    if (&lane != current_) limit_ = std::min(limit_, order_of(lane));
}

bool RecordMerge::next() {
  if (!current_ || current_->records.empty() || order_of(*current_) > limit_) choose();
  if (!current_) return false;
  record_ = current_->records.data();
  current_->records = current_->records.subspan(header_of(record_).size);
  return true;
}

}  // namespace dvm::runtime
