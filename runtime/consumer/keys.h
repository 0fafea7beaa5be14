#pragma once
// Splits keys of aggregations into values.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "dvm/dif/program.h"
#include "runtime/consumer/datum.h"

namespace dvm::runtime {

// Reads the values of a key, one after the other.
class KeyReader {
 public:
  KeyReader(const dif::AggregationDesc& desc, std::string_view key) : desc_(desc), left_(std::as_bytes(std::span(key))) {}
  bool at_end() const { return next_ == desc_.keys.size(); }
  Datum next();

 private:
  const dif::AggregationDesc& desc_;
  std::span<const std::byte> left_;
  size_t next_ = 0;
};

std::vector<Datum> keys_of(const dif::AggregationDesc& desc, std::string_view key);

}  // namespace dvm::runtime
