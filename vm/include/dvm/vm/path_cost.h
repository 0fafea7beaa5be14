#pragma once
// The cost of one evaluation of a DIFO, before it has run. DIF never branches back, so an evaluation is a path through the text.
// One walk from its end finds the cheapest, the dearest and the expected path.
//
//   price(pc) + min, max or mean of what may follow       a conditional branch: both ways, for the mean as often as each was
//                                                         taken in a counted run, or else as likely as each other
//
// Rows that are priced by size need a number of bytes: that of a structure is in its type, that of a string in Sizes.

#include <set>
#include <span>
#include <string_view>

#include "dvm/dif/difo.h"
#include "dvm/vm/cost.h"
#include "dvm/vm/profile.h"

namespace dvm::vm {

// The bytes of a string with its NUL in cheap, likely and dear evaluations.
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

// missing: gets the rows that the DIFO uses and the profile does not price. These cost nothing.
//
// engine: the folder of its prices in the profile; empty: the interpreter. A row that is not there costs what the interpreter's
// does.
//
// counts: those of a run, or empty. Where the run did not come, a branch goes each way half of the time, and variables that are
// looked up exist.
CostRange price_difo(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing,
                     std::span<const InstructionCount> counts = {}, std::string_view engine = {});

}  // namespace dvm::vm
