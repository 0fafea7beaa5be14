#pragma once
// How the rows that are not DIF's are measured: two scripts on the same firings, of which one does more. What both do takes the
// same time, and what the DIF of the difference costs is known by then, so the rest is the row's:
//
//   price of the row = ((time of `with` - time of `without`) / firings - what the profile so far says of their difference) / uses
//
// P stands for the probe. Rows that others are needed for come first.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cost/rows.h"

namespace dvm::runtime {

struct ScriptCase {
  Row row;
  std::string with, without;
  double bytes = 0;                    // not 0: it is n that is found, over so many bytes
  bool is_consumer = false;            // the consumer's time, once a record
  double uses = 1;                     // of the row, that `with` has more
  unsigned memory = 0;                 // letters of a string at arg2 that is captured with each firing
  unsigned frames = 0;                 // of a stack, likewise
  uint64_t most_firings = UINT64_MAX;  // a sample; less where the consumer takes long
};

std::vector<ScriptCase> script_cases();

// A part so many times over, each with its number for {} if that is in it.
std::string repeated(std::string_view begin, std::string_view part, unsigned times, std::string_view end = {});

// Keys of an aggregation that is printed, where nothing else is said.
inline constexpr unsigned kPrintedKeys = 1;

// Letters of execname in the firings, with its NUL. No multiple of a word, as few names are: the bytes behind the last word cost
// most.
inline constexpr unsigned kExecnameBytes = 14;

}  // namespace dvm::runtime
