#pragma once
// A clause that an instrument may run where it fires: a predicate, expressions, and `@[keys] = function(value)`, of integers,
// and of strings and user stacks as keys. The DIF stays the plan's.

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "dvm/dif/difo.h"
#include "dvm/dif/program.h"

namespace dvm::runtime {

struct SiteValue {
  const dif::Difo* difo = nullptr;
  dif::DataType type;   // to which an integer is widened
  uint32_t frames = 0;  // of a user stack, which has no DIF; 0: it is none
};

struct SiteAggregation {
  std::optional<SiteValue> value;
  std::vector<SiteValue> keys;
  dif::Action function{};
  uint32_t aggregation = 0;           // its id
  std::vector<int64_t> parameters{};  // constants of the function
  uint32_t words = 0;                 // of the state of a key
  uint64_t initial = 0;               // of each word
  uint32_t strsize = 0;               // of a string with its NUL, at most
};

struct SiteClause {
  std::optional<SiteValue> predicate;
  std::vector<std::variant<SiteValue, SiteAggregation>> actions;  // in their order; a value: evaluated for its effect
  bool needs_dvm = false;                                         // only its predicate can run there
};

}  // namespace dvm::runtime
