#pragma once
// Firings that happen in dvm itself: BEGIN, END and tick-N.

#include "dvm/vm/host.h"

namespace dvm::runtime {

// A firing here and now: times, process, thread and CPU are dvm's.
vm::Firing own_firing() noexcept;

}  // namespace dvm::runtime
