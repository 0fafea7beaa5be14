#pragma once
// What every record in a principal or speculation buffer begins with; runtime/enabling/ecb.h says what follows it.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dvm::runtime {

using Epid = uint32_t;

struct RecordHeader {
  Epid epid = 0;
  uint32_t size = 0;   // of the record with this header, in bytes
  uint64_t order = 0;  // among the records of all CPUs, in the order of time
};

inline RecordHeader header_of(const std::byte* record) noexcept {
  RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  return header;
}

}  // namespace dvm::runtime
