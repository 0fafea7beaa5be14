#pragma once
// Strings of thread-local variables. Part of fire.cpp.

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/read.h"

namespace dvm::runtime::inside {

inline uint64_t number_of(const Context& context, const Lane* lane) {
  return static_cast<uint64_t>(lane - reinterpret_cast<const Lane*>(context.lane));
}

inline uint64_t* words_of_text(const Context& context, const Lane* lane, uint32_t variable) {
  auto* texts = reinterpret_cast<ThreadTexts*>(context.data + texts_at(context.lanes, context.ring_bytes));
  return texts[number_of(context, lane)].words[variable];
}

// Reads the string of a variable as words of a key, cut at `most` characters. A variable without a string has an empty one.
DVM_RARELY inline uint32_t read_own_text(const Context& context, const Lane* lane, uint32_t variable, uint64_t* to,
                                         uint64_t most) {
  const auto* variables = reinterpret_cast<const ThreadVariables*>(context.variables);
  const bool has_text = variables[number_of(context, lane)].values[variable] != 0;
  const uint64_t* words = words_of_text(context, lane, variable);
  for (uint32_t i = 0; has_text && i < kTextWords; i++) {
    to[i] = load(words[i]);
    if (end_text(to[i], most - i * sizeof(uint64_t))) return i + 1;
  }
  to[0] = 0;
  return 1;
}

// If a signal handler interrupts this and never returns, the variable has no string.
inline void assign_text(const Context& context, Workspace& workspace, uint32_t variable, const uint64_t* from, uint32_t count) {
  auto* words = static_cast<volatile uint64_t*>(words_of_text(context, workspace.lane, variable));  // no call of memcpy
  auto* has_text = static_cast<volatile uint64_t*>(&workspace.variables[variable]);
  *has_text = 0;
  for (uint32_t i = 0; i < count; i++) words[i] = from[i];
  *has_text = 1;
}

}  // namespace dvm::runtime::inside
