#pragma once
// What every record in a principal or speculation buffer begins with; runtime/plan/plan.h says what follows it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dvm/dif/fault.h"

namespace dvm::runtime {

using Epid = uint32_t;

struct RecordHeader {
  Epid epid = 0;
  uint32_t size = 0;   // of the record with this header, in bytes
  uint64_t order = 0;  // among the records of all CPUs, in the order of time (RecordOrder)
};

// Numbers the records of one context: a number is above all before it, and not below the time of its firing in ns. So records of
// a context keep the order in which they were made, whatever the clocks of its CPUs say, and those of several contexts can be
// merged by their numbers.
class RecordOrder {
 public:
  void reach(uint64_t time) noexcept { last_ = std::max(last_, time); }
  uint64_t next() noexcept { return ++last_; }

 private:
  uint64_t last_ = 0;
};

// A fault of a clause, as it travels to the consumer: RecordHeader with EPID 0, then this.
struct ErrorRecord {
  RecordHeader header;
  Epid epid = 0;
  uint32_t action = 0;
  uint32_t offset = 0;  // in bytes of DIF
  dif::Fault fault = dif::Fault::none;
  uint64_t value = 0;
};

inline RecordHeader header_of(const std::byte* record) noexcept {
  RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  return header;
}

}  // namespace dvm::runtime
