#pragma once
// What stubs call at jumps and returns of functions that leave by jumps (inside/tails.h). fire.cpp includes this.

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/tails.h"

namespace dvm::runtime::inside {

extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] void agent_leave(Workspace* workspace, const Context* context, uint64_t function,
                                                               uint64_t stack_pointer) {
  workspace->lane->full += note_tail(*context, *workspace->tails, function, stack_pointer);
}

extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] bool agent_returns(Workspace* workspace, const Context*, uint64_t function,
                                                                 uint64_t stack_pointer) {
  return has_tail(*workspace->tails, function, stack_pointer);
}

extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] void agent_forget(Workspace* workspace, const Context*, uint64_t,
                                                                uint64_t stack_pointer) {
  forget_tails(*workspace->tails, stack_pointer);
}

}  // namespace dvm::runtime::inside
