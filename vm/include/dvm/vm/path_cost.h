#pragma once
// What one evaluation of a DIFO costs, before it has run: DIF never branches back, so an evaluation is a path through the text,
// and the cheapest, the dearest and the expected one are found in one walk from its end.
//
//   price(pc) + min, max or mean of what may follow       a conditional branch: both ways, for the mean as often as each was
//                                                         taken in a counted run, or else as likely as each other
//
// Rows that are priced by size need to know how many bytes: of structures their type says it, of strings Sizes.

#include <set>
#include <span>
#include <string_view>

#include "dvm/dif/difo.h"
#include "dvm/vm/cost.h"
#include "dvm/vm/profile.h"

namespace dvm::vm {

// Bytes of a string with its NUL, as cheap, likely and dear evaluations have them.
struct Sizes {
  double least = 1;
  double expected = 16;
  double most = 257;
  double frames = 10;  // of a stack, as expected
};

// Of the three, one each.
struct CostRange {
  Cost cheapest, expected, dearest;

  CostRange& operator+=(const CostRange& other) {
    cheapest += other.cheapest, expected += other.expected, dearest += other.dearest;
    return *this;
  }
};

// missing: the rows that the DIFO uses and the profile does not price are added; they cost nothing.
// engine: the folder of its prices; empty: the interpreter.
// counts: as a run had them. Where it did not come, and everywhere if they are empty, branches go each way half of the time, and
// variables that are looked up are there.
CostRange price_difo(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing,
                     std::span<const InstructionCount> counts = {}, std::string_view engine = {});

}  // namespace dvm::vm
