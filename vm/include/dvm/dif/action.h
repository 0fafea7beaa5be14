#pragma once
// Actions and aggregating functions, made from vm/dif/actions.def and vm/dif/aggregations.def.

#include <array>
#include <cstdint>
#include <string_view>

#include "dvm/dif/subroutine.h"

namespace dvm::dif {

enum class Action : uint16_t {
#define DVM_ACTION(number, name, arguments, when, destructive, support, text) name = number,
#include "vm/dif/actions.def"
#define DVM_AGGREGATION(number, name, arguments, words, histogram, text) agg_##name = number,
#include "vm/dif/aggregations.def"
};

enum class ActionTime : uint8_t { record, probe, consumer };

struct ActionInfo {
  Action id;
  std::string_view name;
  std::string_view arguments;
  ActionTime when;
  bool destructive;
  std::string_view unsupported;  // the reason; empty when it is supported
  std::string_view text;
};

struct AggregationInfo {
  Action id;
  std::string_view name;
  std::string_view arguments;
  unsigned words;  // 64-bit words of state for a key; 0: see aggregation_words()
  bool histogram;
  std::string_view text;
};

inline constexpr std::array kActions = {
#define DVM_DESTRUCTIVE_yes true
#define DVM_DESTRUCTIVE_no false
#define DVM_ACTION(number, name, arguments, when, destructive, support, text) \
  ActionInfo{Action::name, #name, arguments, ActionTime::when, DVM_DESTRUCTIVE_##destructive, support, text},
#include "vm/dif/actions.def"
};

inline constexpr std::array kAggregations = {
#define DVM_AGGREGATION(number, name, arguments, words, histogram, text) \
  AggregationInfo{Action::agg_##name, #name, arguments, words, DVM_DESTRUCTIVE_##histogram, text},
#include "vm/dif/aggregations.def"
#undef DVM_DESTRUCTIVE_yes
#undef DVM_DESTRUCTIVE_no
};

// Actions whose record is made from the firing, which may be keys too: a stack, or the symbol of an address in the process.
constexpr bool is_stack(Action id) { return id == Action::stack || id == Action::ustack || id == Action::jstack; }
constexpr bool is_user_symbol(Action id) {
  return id == Action::usym || id == Action::umod || id == Action::uaddr || id == Action::ufunc;
}

constexpr const ActionInfo* find_action(Action id) {
  for (const ActionInfo& row : kActions)
    if (row.id == id) return &row;
  return nullptr;
}

constexpr const AggregationInfo* find_aggregation(Action id) {
  for (const AggregationInfo& row : kAggregations)
    if (row.id == id) return &row;
  return nullptr;
}

}  // namespace dvm::dif
