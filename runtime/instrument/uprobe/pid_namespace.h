#pragma once
// dvm's pid namespace. A thread has a number in its own namespace and in each one above.

#include "runtime/instrument/uprobe/capture_inputs.h"

namespace dvm::runtime {

PidNamespace own_pid_namespace();

}  // namespace dvm::runtime
