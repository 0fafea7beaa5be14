#pragma once
// Counts of turns (inside/watched.h), which the process may overwrite. Tested by tests/unit/instrument/load_turns_test.cpp.

#include <cstdint>

#include "runtime/agent/inside/watched.h"

namespace dvm::runtime {

// Turns whose thread did not wait for the answer, since there were `before` of them. None, if the counts contradict each other.
inline uint64_t late_since(const inside::LoadTurns& turns, uint64_t before) {
  return turns.late > before && turns.late <= turns.begun ? turns.late - before : 0;
}

}  // namespace dvm::runtime
