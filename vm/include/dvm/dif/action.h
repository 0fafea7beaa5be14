#pragma once
// Actions and aggregating functions, made from vm/dif/actions.def and vm/dif/aggregations.def.

#include <array>
#include <cstdint>
#include <string_view>

#include "dvm/dif/subroutine.h"

namespace dvm::dif {

enum class Action : uint16_t {
#define DVM_ACTION(number, name, ...) name = number,
#include "vm/dif/actions.def"
#define DVM_AGGREGATION(number, name, ...) agg_##name = number,
#include "vm/dif/aggregations.def"
};

enum class ActionTime : uint8_t { record, probe, consumer };

// The contents of the record of an action.
enum class ActionKeeps : uint8_t {
  nothing,       // no record
  values,        // values of the arguments
  stack,         // the user stack (this and the following may also be keys)
  kernel_stack,  // the kernel stack
  symbol,        // address of a symbol in the process
  kernel_symbol  // address of a symbol in the kernel
};

struct ActionInfo {
  Action id;
  std::string_view name;
  ArgumentList arguments;
  ActionTime when;
  ActionKeeps keeps;
  bool destructive;
  std::string_view unsupported;  // the reason; empty when it is supported
  std::string_view text;
};

struct AggregationInfo {
  Action id;
  std::string_view name;
  ArgumentList arguments;
  unsigned words;  // 64-bit words of state per key; 0: see aggregation_words()
  bool histogram;
  std::string_view text;
};

// The words of the column `histogram`.
namespace column {
inline constexpr bool histogram_yes = true, histogram_no = false;
}  // namespace column

inline constexpr std::array kActions = {
#define DVM_ACTION(number, name, arguments, when, keeps, record, format, destructive, support, text)                         \
  ActionInfo{                                                                                                                \
      Action::name, #name, ArgumentList(arguments), ActionTime::when, ActionKeeps::keeps, column::destructive_##destructive, \
      support,      text},
#include "vm/dif/actions.def"
};

inline constexpr std::array kAggregations = {
#define DVM_AGGREGATION(number, name, arguments, words, histogram, text) \
  AggregationInfo{Action::agg_##name, #name, ArgumentList(arguments), words, column::histogram_##histogram, text},
#include "vm/dif/aggregations.def"
};

constexpr const ActionInfo* find_action(Action id) {
  for (const ActionInfo& row : kActions)
    if (row.id == id) return &row;
  return nullptr;
}

// Aggregating functions, and numbers without a row, keep the values of their arguments.
constexpr ActionKeeps kept_by(Action id) {
  switch (id) {
#define DVM_ACTION(number, name, arguments, when, keeps, ...) \
  case Action::name:                                          \
    return ActionKeeps::keeps;
#include "vm/dif/actions.def"
    default:
      return ActionKeeps::values;
  }
}
constexpr bool is_of_kernel(Action id) {
  return kept_by(id) == ActionKeeps::kernel_stack || kept_by(id) == ActionKeeps::kernel_symbol;
}
constexpr bool is_stack(Action id) { return kept_by(id) == ActionKeeps::stack || kept_by(id) == ActionKeeps::kernel_stack; }
constexpr bool is_symbol(Action id) { return kept_by(id) == ActionKeeps::symbol || kept_by(id) == ActionKeeps::kernel_symbol; }
constexpr bool keeps_values(Action id) { return kept_by(id) != ActionKeeps::nothing; }

constexpr const AggregationInfo* find_aggregation(Action id) {
  for (const AggregationInfo& row : kAggregations)
    if (row.id == id) return &row;
  return nullptr;
}

}  // namespace dvm::dif
