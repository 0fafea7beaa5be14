#pragma once
// The header of every record in a principal or speculation buffer. runtime/plan/plan.h describes what follows it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dvm/dif/fault.h"

namespace dvm::runtime {

using Epid = uint32_t;

struct RecordHeader {
  Epid epid = 0;
  uint32_t size = 0;   // bytes of the record, this header included
  uint64_t order = 0;  // position among the records of all CPUs (RecordOrder)
};

// Numbers the records of one context. Each number is larger than all before it, and at least the time of the firing in ns. So the
// records of a context keep their order, even if the clocks of CPUs differ, and those of several contexts can be merged by
// number.
class RecordOrder {
 public:
  void reach(uint64_t time) noexcept { last_ = std::max(last_, time); }
  uint64_t next() noexcept { return ++last_; }

 private:
  uint64_t last_ = 0;
};

// The record of a fault of a clause. Its header has EPID 0.
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
