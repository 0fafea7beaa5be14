#pragma once
// Merges the records of all CPUs to one sequence: in the order of time or, without option temporal, CPU after CPU.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/buffer/record.h"
#include "runtime/buffer/sources.h"

namespace dvm::runtime {

class RecordMerge {
 public:
  RecordMerge(std::vector<RecordLane> lanes, bool is_temporal);

  // Moves on to the next record. False: that was the last.
  bool next();
  int32_t cpu() const { return current_->cpu; }
  const std::byte* record() const { return record_; }
  // The later records of its CPU.
  std::span<const std::byte> following() const { return current_->records; }

 private:
  void choose();

  std::vector<RecordLane> lanes_;
  bool is_temporal_;
  RecordLane* current_ = nullptr;  // the lane of the current record
  uint64_t limit_ = 0;             // records of this lane come next while they are older than this
  const std::byte* record_ = nullptr;
};

}  // namespace dvm::runtime
