#pragma once

#include "dvm/common/result.h"

namespace dvm::runtime {

// Fails if there is no /proc, or if it is that of another pid namespace, whose process numbers mean other processes.
Status check_proc();

}  // namespace dvm::runtime
