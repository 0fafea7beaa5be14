#pragma once
// A clause that an instrument may run where it fires: a predicate, expressions, and `@[keys] = function(value)`, all of integers.
// The DIF stays the plan's.

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "dvm/dif/difo.h"
#include "dvm/dif/program.h"

namespace dvm::runtime {

struct SiteValue {
  const dif::Difo* difo = nullptr;
  dif::DataType type;  // to which it is widened
};

struct SiteAggregation {
  std::optional<SiteValue> value;
  std::vector<SiteValue> keys;
  dif::Action function{};
  uint32_t aggregation = 0;  // its id
  uint32_t words = 0;        // of the state of a key
  uint64_t initial = 0;      // of each word
};

struct SiteClause {
  std::optional<SiteValue> predicate;
  std::vector<std::variant<SiteValue, SiteAggregation>> actions;  // in their order; a value: evaluated for its effect
};

}  // namespace dvm::runtime
