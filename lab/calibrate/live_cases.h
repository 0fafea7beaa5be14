#pragma once
// Pairs of scripts on the looping child, with the sizes of their calls. The first does more: their difference is the price of it.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lab/calibrate/looping_child.h"
#include "runtime/cost/rows.h"

namespace dvm::lab {

// The calls of one run of a case; rows with a price by size have two.
struct CallSize {
  uint32_t letters = 0, depth = 0;
  uint32_t stack_bytes = 0;  // the option ustackunwind
  double things = 0;         // that the row is priced by; 0 where the script says it
};
inline constexpr uint32_t kShallow = 4, kUsual = 12, kDeep = 24;  // functions
inline constexpr uint32_t kShort = 7, kLong = 199;                // letters

constexpr CallSize of_text(uint32_t letters) { return {letters, 0, 0, letters + 1.0}; }
constexpr CallSize of_bytes(double bytes) { return {kLong, 0, 0, bytes}; }
constexpr CallSize of_stack(uint32_t depth, uint32_t stack_bytes = 0) {
  return {0, depth, stack_bytes, static_cast<double>(frames_of({.depth = depth}))};
}
constexpr CallSize of_calls(uint32_t depth) { return {0, depth, 0, static_cast<double>(depth)}; }
constexpr CallSize of_copy(uint32_t bytes) { return {0, kShallow, bytes, static_cast<double>(bytes)}; }

using CallSizes = std::array<std::optional<CallSize>, 2>;
inline constexpr CallSizes kOneSize = {CallSize{}, {}}, kStacks = {of_stack(kShallow), of_stack(kDeep)};

// How a case is run.
struct PairTerms {
  double uses = 1;                   // of the row, more in `with`
  bool is_in_dvm = false;            // prices dvm's part
  TextPlace text = TextPlace::data;  // the string of `with`; that of `acts` is on the heap
  bool follows = false;              // `with` runs under -x followfork
  bool enters = false;               // each call enters all functions
  double keys = 10;                  // of an aggregation in `with`
  bool fails = false;                // `with` cannot read its string
  bool acts = false;                 // dvm acts on the process
  std::string_view larger = {};      // `with` of the second size, if different
  std::string_view probe = "calibrated:::entry";
  std::optional<CalleeKind> callee = {};  // nothing: the usual one
};

// In clauses, CHILD stands for the process and PARENT for dvm. PROBE is the probe of a further clause, RETURNS the return of the
// function. BYTES is the number of bytes of the size, and TEXT as many letters.
struct PairCase {
  runtime::Row row;
  std::string_view with, without = {};  // clauses; no `without`: a call that is not traced, or nothing in dvm
  CallSizes sizes = kOneSize;
  PairTerms how = {};
};

// The order is such that the rows which a case needs have been priced by the cases before it.
std::span<const PairCase> agent_cases();

}  // namespace dvm::lab
