#pragma once
// Code that finds the state of a key which ends with a stack by frame pointers, where that lies in memory that lasts. Tested by
// tests/unit/instrument/site_run_test.cpp, beside agent_find (inside/fire.cpp), which does the same with any stack.

#include <cstddef>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/site_place.h"

namespace dvm::runtime {

class CodeWriter;

// False: there is no code for the key.
bool has_stack_code(const AgentClause& aggregation);

// %rbx: the lane, %rbp: the arena, which holds the words before the stack, %rsp: a SiteFrame. Makes %rax the address of the
// state. Changes the registers of arguments and %r8. Returns the jumps of stacks that it leaves to agent_find.
std::vector<size_t> add_stack(CodeWriter& code, const AgentClause& aggregation, const SitePlace& place);

}  // namespace dvm::runtime
