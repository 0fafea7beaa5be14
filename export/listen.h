#pragma once
// A socket that listens at HOST:PORT.

#include <string>

#include "dvm/common/result.h"

namespace dvm::exporting {

// Returns its descriptor, which is closed on exec. The error says what is wrong with the address.
Result<int> listen_at(const std::string& address);
// HOST:PORT that it listens at.
std::string bound_address(int socket);

}  // namespace dvm::exporting
