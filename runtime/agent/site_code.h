#pragma once
// Code at the begin of a stub, for common firings: it saves the registers that it changes, and no others. Any other firing it
// leaves to agent_enter (inside/fire.cpp), before anything has happened.
//
//   all clauses have predicates that read registers only    It evaluates them; if all are false, the firing ends here.
//   all clauses run in the thread, or by records that hold   It takes the lane, runs the steps or makes the records, and gives
//   what is at hand; the lane of the thread is known         it back
//
// Tested by tests/unit/instrument/site_code_test.cpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/code_bytes.h"
#include "runtime/agent/site_place.h"

namespace dvm::runtime {

// Adds code to which a firing leads at its end, and which does not lead to the code behind it.
using AddEnd = std::function<void()>;

// What follows the code is for the other firings. All registers and flags are then what they were, and the 128 bytes below the
// stack pointer. False: nothing was added, not even the end.
bool add_site_code(CodeWriter& code, std::span<const AgentFirer> firers, const SitePlace& place, const AddEnd& add_end);
// Bytes of it and of its unwind information, at most.
size_t site_code_bytes(std::span<const AgentFirer> firers, const inside::Context& context);

}  // namespace dvm::runtime
