#pragma once
// Holds a process that executes another program at the program's entry point, so that probes can be placed in it:
//
//   1. A thread waits before execve (inside/watch.h). dvm becomes its tracer, and sees each system call.
//   2. The thread executes the program. dvm sets a debug register to the entry point; the dynamic linker runs.
//   3. The thread reaches the entry point, with all libraries mapped. There it is led into code that waits (remote_calls.h), and
//      dvm traces it no longer. If instead the exec has failed and the thread makes another system call, dvm lets it go.
//
// The process continues if dvm is killed at any time, and some seconds after dvm was stopped. A program that gains rights by its
// file (set-user-ID) is not held, because the kernel would withhold these rights.

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "runtime/agent/remote_calls.h"

namespace dvm::runtime {

// The result of hold_exec():
// - held     The process waits at the entry point of its new program.
// - missed   The process executes a program that already runs, or has ended.
// - none     The process executes no program.
// - unknown  The process has no such thread, or the thread did not come to its exec in time. The memory of the process tells
// whether
//            it has executed a program.
enum class ExecHold : uint8_t { held, missed, none, unknown };

struct HeldExec {
  ExecHold result = ExecHold::missed;
  RemoteHold hold;  // if it is held; for release_inside()
};

// tell: names the thread that goes on, because it is traced; 0: none. is_over: it has executed a program before.
HeldExec hold_exec(pid_t pid, pid_t tid, const std::function<void(pid_t)>& tell, const std::function<bool()>& is_over);
// For a process that was missed: holds the next program that its first thread executes, if it does so soon.
HeldExec hold_next_exec(pid_t pid);

}  // namespace dvm::runtime
