#pragma once
// The output of `dvm --version` and `dtrace -V`.

#include <string>

namespace dvm::cmd {

// Version, commit, engines and backends, with the reason for each that is not available here.
std::string version_text();

}  // namespace dvm::cmd
