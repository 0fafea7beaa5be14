#pragma once
// The output of `dvm --version` and `dtrace -V`.

#include <string>

namespace dvm::cmd {

// Version, commit, engines and backends; of what cannot be had here, why.
std::string version_text();

}  // namespace dvm::cmd
