#pragma once
// A profile as a JSON file (docs/profile.schema.json):
//
//   {"dvm_profile": 1, "name": "...", "machine": "...", "clock_hz": 1.7e9,
//    "made_on": {"cpu": "...", "kernel": "...", "dvm": "..."},
//    "prices": {"opcode": {"add": {"m": 41, "n": 0, "spread": 2}, ...}, "source": {"pid": {"trigger": {...}, ...}}, ...}}
//
// made_on: where dvm measured it; a published profile has none. The folders of "prices" are the parts of a row's name
// (runtime/cost/rows.h). m: clocks a use. n: clocks a byte more. spread: error of m. Missing figures are 0, and no object has a
// name twice.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/vm/profile.h"

namespace dvm::runtime {

// The whole file or none of it. The error names `file`, and the line and column or the row that is wrong. warnings: rows that
// this version does not have; they are left out.
Result<vm::Profile> parse_profile(std::string_view text, const std::string& file, std::vector<std::string>& warnings);

std::string profile_text(const vm::Profile& profile);

}  // namespace dvm::runtime
