#pragma once
// Words behind ArmedPage for threads that wait until the code is restored.

#include <cstdint>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

struct Restoring {
  uint64_t at = 0;        // the TSC when the guard of a dvm that has ended last began to restore the code; 0: never
  uint64_t given_up = 0;  // `at` + 1 once a thread has given up waiting; 0: none has
};

constexpr uint64_t restoring_at(uint64_t armed_page) { return armed_page + sizeof(ArmedPage); }

}  // namespace dvm::runtime::inside
