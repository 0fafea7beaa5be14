#pragma once
// Code that finds the state of a key which ends with a short string, in memory that lasts. Tested by
// tests/unit/instrument/site_text_test.cpp, beside agent_find (inside/fire.cpp), which does the same with any string.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/site_place.h"

namespace dvm::runtime {

class CodeWriter;

inline constexpr uint32_t kShortText = 24;  // bytes of such a string with its 0, at most

// The ranges that its strings may lie in: those of the program, and of the code at the address.
std::vector<inside::MemoryRange> ranges_of_texts(std::span<const inside::MemoryRange> lasting, uint64_t address);

// The words of such a string, at most; 0: there is no code for the key.
uint32_t words_of_text(const AgentClause& aggregation);

// %rax: the address of the string, %rbp: the arena, which holds the words before it. Makes %rax the address of the state. Changes
// the registers of arguments and %r8. Returns the jumps of strings that it leaves to agent_find: with their address in %r8.
std::vector<size_t> add_text(CodeWriter& code, const AgentClause& aggregation, const SitePlace& place);

}  // namespace dvm::runtime
