#pragma once
// The sources from which the consumer reads: lanes of records and entries of aggregations.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace dvm::runtime {

// Records of one CPU, in their order.
struct RecordLane {
  int32_t cpu = 0;
  std::span<const std::byte> records;
};

class RecordSource {
 public:
  // Takes the records since the last call. They are valid until the next call.
  virtual std::vector<RecordLane> take_records() = 0;
  // True if records should be taken now, before some are dropped.
  virtual bool wants_reading() const noexcept = 0;

 protected:
  ~RecordSource() = default;
};

// The state of one key of an aggregation.
struct AggregationEntry {
  uint32_t aggregation = 0;        // its id
  std::span<const std::byte> key;  // a multiple of 8 bytes
  std::span<const uint64_t> words;
  int32_t cpu = kAllCpus;
  static constexpr int32_t kAllCpus = -1;
};

class AggregationSource {
 public:
  using Visit = std::function<void(const AggregationEntry&)>;
  // Calls a function for each entry, in the order in which keys were first used.
  virtual void visit(const Visit& each) const = 0;
  // Removes all entries.
  virtual void clear() noexcept = 0;
  virtual bool empty() const noexcept = 0;
  // True if entries should be taken now, before some are dropped.
  virtual bool wants_reading() const noexcept = 0;

 protected:
  ~AggregationSource() = default;
};

}  // namespace dvm::runtime
