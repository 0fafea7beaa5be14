#pragma once
// Code that finds the entry of a key in the arena of a lane (inside::Arena), if the first bucket of the key leads to that
// entry.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/agent/inside/clause_steps.h"

namespace dvm::runtime {

class CodeWriter;
enum class GeneralRegister : uint8_t;

// %rbx: the lane, %rax: the number of its arena. Counts once for a clause that has no entry there.
void add_plain_count(CodeWriter& code, uint32_t clause);

// %rbp: the arena, which holds the key. Makes %rcx the position of the entry, and changes %rax and %rdx if the key has words;
// %rdx if it has none. Returns the jumps of keys that have no entry there.
GeneralRegister position_register(uint32_t key_words);
std::vector<size_t> add_lookup(CodeWriter& code, const inside::ThreadAggregation& clause, uint32_t key_words);

// Offset of a word of the key from %rbp.
int32_t key_at(uint32_t word);
// Offset of the state of such an entry from %rbp + %rcx.
size_t state_of_entry(uint32_t key_words);

}  // namespace dvm::runtime
