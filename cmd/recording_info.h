#pragma once
// dvm replay --info: what a recording holds.

#include <string>

namespace dvm::cmd {

// Prints it; returns the exit status. demangles: functions of C++ and Rust under the names that people write.
int print_recording_info(const std::string& path, bool demangles);

}  // namespace dvm::cmd
