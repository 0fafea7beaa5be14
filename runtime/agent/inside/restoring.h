#pragma once
// The word behind ArmedPage by which the guard of a dvm that is gone says that it is at work: the TSC when it last began to
// restore the code. 0: never.

#include <cstdint>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

constexpr uint64_t restoring_at(uint64_t armed_page) { return armed_page + sizeof(ArmedPage); }

}  // namespace dvm::runtime::inside
