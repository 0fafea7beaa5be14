#pragma once
// Aggregates values for which the arenas of threads had no room. They arrive through a ring as inside::UpdateRecords, and are
// kept here until the consumer takes them. The records are untrusted.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/arena_reader.h"

namespace dvm::runtime {

class LateUpdates {
 public:
  // False: no stub of dvm's writes such a record.
  bool add(std::span<const std::byte> record, const std::vector<KnownClause>& clauses, const StackCheck& check = trust_stack);
  // True if they should be taken now, because they use much memory.
  bool wants_reading() const { return bytes_ > kMuch; }
  void take(const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit);

 private:
  static constexpr size_t kMuch = 4 << 20;
  std::map<std::pair<uint32_t, std::vector<uint64_t>>, std::vector<uint64_t>> states_;  // by the number of a clause and the key
  size_t bytes_ = 0;
};

}  // namespace dvm::runtime
