#pragma once
// Functions of a traced process that the agent watches, and the words that dvm and the dynamic linker of the process exchange.

#include <cstdint>

namespace dvm::runtime::inside {

// Watched functions, most of them of the C library. A call may restrict system calls, start a task that shares a thread's lane,
// or change the thread pointer. It may also unmap or change memory of dvm, or execute another program (exec). `fork` is the
// place where a forked child begins. `unwind` is the function of libgcc that finds unwind information. `load` is the function
// that the dynamic linker calls before and after it maps files. `sigaction` installs a handler, which may see the address of an
// instruction under a jump. `mlockall` loads all memory of the process, and that of dvm with it. The last ones take memory away.
enum class Watch : uint32_t {
  nothing,
  prctl,
  syscall,
  clone,
  arch_prctl,
  exec,
  fork,
  unwind,
  load,
  sigaction,
  mlockall,
#define DVM_MEMORY_FUNCTION(function, call, presence) function,
#include "runtime/agent/inside/memory_functions.def"
};

// Each time that the dynamic linker has mapped files is a turn. Its thread waits until dvm has placed probes in them.
struct LoadTurns {
  uint64_t state = 0;      // address of the state of the linker, r_state of r_debug; 0: unknown. Written by dvm
  uint64_t is_adding = 0;  // the linker has begun to map files
  uint64_t begun = 0;      // turns so far
  uint64_t seen = 0;       // of these. Written by dvm
  uint64_t answered = 0;   // likewise
  uint64_t late = 0;       // turns whose thread did not wait until the answer
  uint64_t padding[2]{};
};
static_assert(sizeof(LoadTurns) == 64);

}  // namespace dvm::runtime::inside
