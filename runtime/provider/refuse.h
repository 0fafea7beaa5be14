#pragma once
// The answer of pid and usdt to a description that names a process but matches no probes.

#include <string>
#include <string_view>
#include <utility>

#include "dvm/runtime/provider.h"

namespace dvm::runtime {

inline Discovery refuse(std::string_view tag, std::string reason) { return {std::move(reason), std::string(tag), {}}; }

}  // namespace dvm::runtime
