#pragma once
// Code at the begin of a stub, for the firings that need little: it saves the registers that it changes, and no others. What it
// cannot do it leaves to agent_enter, before anything has happened.
//
//   all clauses have predicates that read registers only     it evaluates them; if all are false, the firing ends here
//
// Tested by tests/unit/instrument/site_code_test.cpp.

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/code_bytes.h"

namespace dvm::runtime {

// May add nothing. Returns the jumps that end a firing; what follows the code is for the other firings. All registers and flags
// are then what they were, and the 128 bytes below the stack pointer.
std::vector<size_t> add_site_code(CodeWriter& code, std::span<const AgentFirer> firers, uint64_t address);
// Bytes of it, at most.
size_t site_code_bytes(std::span<const AgentFirer> firers);

}  // namespace dvm::runtime
