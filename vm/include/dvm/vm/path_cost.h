#pragma once
// The cost of one evaluation of a DIFO, before it runs. DIF never branches back, so an evaluation is a path through the text. One
// pass from its end finds the cheapest, the most expensive and the expected path:
//
//   cost(pc) = price(pc) + min, max or mean of the costs of the next instructions
//
// For the mean, a conditional branch goes each way as often as in a counted run or, without counts, half of the time. Rows that
// are priced by size need a number of bytes. The type of a structure has it; for strings it comes from Sizes.

#include <set>
#include <span>
#include <string_view>

#include "dvm/dif/difo.h"
#include "dvm/vm/cost.h"
#include "dvm/vm/profile.h"

namespace dvm::vm {

// The bytes of a string, with its NUL, on the cheapest, the expected and the most expensive path.
struct Sizes {
  double least = 1;
  double expected = 16;
  double most = 257;
  double frames = 10;  // the expected frames of a stack
};

// The cost of each of the three paths.
struct CostRange {
  Cost cheapest, expected, dearest;

  CostRange& operator+=(const CostRange& other) {
    cheapest += other.cheapest, expected += other.expected, dearest += other.dearest;
    return *this;
  }
};

// missing: receives the rows that the DIFO uses and the profile lacks. These cost nothing.
//
// engine: the folder of the engine's prices in the profile; empty: the interpreter. For a row without a price there, the price of
// the interpreter is used.
//
// counts: from a run, or empty. At instructions that the run did not reach, a branch goes each way half of the time, and
// variables that are looked up exist.
CostRange price_difo(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing,
                     std::span<const InstructionCount> counts = {}, std::string_view engine = {});

}  // namespace dvm::vm
