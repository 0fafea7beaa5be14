#pragma once
// dvm replay --info: what a recording holds.

#include <string>

namespace dvm::cmd {

// Prints it; returns the exit status.
int print_recording_info(const std::string& path);

}  // namespace dvm::cmd
