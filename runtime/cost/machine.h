#pragma once
// Compares the machine of a profile with this one. Prices of another machine are used, with a warning.

#include <string>
#include <vector>

#include "dvm/vm/profile.h"

namespace dvm::runtime {

// This machine. version: of dvm.
vm::Machine this_machine(std::string version);

// "CPU, kernel, dvm VERSION".
std::string text_of(const vm::Machine& machine);

// Ticks of the cycle counter per second, measured over `interval` ns.
double tick_rate(uint64_t interval);

// "its CPU is A, here B". Properties that the profile does not have are not compared.
std::vector<std::string> machine_differences(const vm::Profile& profile, const vm::Machine& here, double clock_hz);

}  // namespace dvm::runtime
