#pragma once
// Code at the beginning of a stub, for common firings. It saves only the registers that it changes.
//
// - If all clauses have predicates that read registers only, it evaluates them. If all are false, the firing ends here.
// - If the lane of the thread is known, and all clauses run in the thread or by records of record_code.h, it runs them. It
//   acquires the lane, runs the steps or makes the records, and releases the lane.
// - It leaves any other firing to agent_enter (inside/fire.cpp), before anything has happened.
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

// Other firings reach what follows the code. They find all registers and flags unchanged, and the 128 bytes below the stack
// pointer. False: nothing was added, not even the end.
bool add_site_code(CodeWriter& code, std::span<const AgentFirer> firers, const SitePlace& place, const AddEnd& add_end);
// Bytes of it and of its unwind information, at most.
size_t site_code_bytes(std::span<const AgentFirer> firers, const inside::Context& context);

}  // namespace dvm::runtime
