#pragma once
// A profile as a JSON file (docs/profile.schema.json). The nested objects of "prices" are the parts of a row's name
// (runtime/cost/rows.h). Missing figures are 0. Duplicate names are an error.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/vm/profile.h"

namespace dvm::runtime {

// The error names `file`, and the line and column or the row. warnings: rows that this version does not know, and leaves out.
Result<vm::Profile> parse_profile(std::string_view text, const std::string& file, std::vector<std::string>& warnings);

std::string profile_text(const vm::Profile& profile);

// This machine, with which that of a profile is compared. Prices of another machine are used, with a warning. version: of dvm.
vm::Machine this_machine(std::string version);

// "CPU, kernel, dvm VERSION".
std::string text_of(const vm::Machine& machine);

// Ticks of the cycle counter per second, measured over `interval` ns.
double tick_rate(uint64_t interval);

// "its CPU is A, here B". Properties that the profile does not have are not compared.
std::vector<std::string> machine_differences(const vm::Profile& profile, const vm::Machine& here, double clock_hz);

}  // namespace dvm::runtime
