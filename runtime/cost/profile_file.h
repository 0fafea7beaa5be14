#pragma once
// A profile as a JSON file (docs/profile.schema.json):
//
//   {"dvm_profile": 1, "name": "...", "machine": "...", "clock_hz": 1.7e9,
//    "made_on": {"cpu": "...", "kernel": "...", "dvm": "..."},
//    "prices": {"opcode": {"add": {"m": 41, "n": 0, "spread": 2}, ...}, "source": {"pid": {"trigger": {...}, ...}}, ...}}
//
// made_on: the machine on which dvm measured it; published profiles have none. The nested objects of "prices" are the parts of a
// row's name (runtime/cost/rows.h). m: clocks per use. n: clocks per unit, mostly a byte. spread: the error of m. Missing figures
// are 0. Duplicate names are an error.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/vm/profile.h"

namespace dvm::runtime {

// Parses a profile. The error names `file`, and the line and column or the row. warnings: receives rows that this version does
// not know; they are left out.
Result<vm::Profile> parse_profile(std::string_view text, const std::string& file, std::vector<std::string>& warnings);

std::string profile_text(const vm::Profile& profile);

}  // namespace dvm::runtime
