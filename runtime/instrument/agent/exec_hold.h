#pragma once
// Holds a process that executes another program at the program's entry point, so that probes can be placed in it:
//
//   1. A thread waits before execve (inside/watch.h). dvm becomes its tracer, and sees each system call.
//   2. The thread executes the program. dvm sets a debug register to the entry point; the dynamic linker runs.
//   3. The thread reaches the entry point and is stopped, with all libraries mapped. If instead the exec has failed and the
//   thread
//      makes another system call, dvm lets it go.
//
// No code is changed, so the process continues if dvm is killed at any time. A program that gains rights by its file
// (set-user-ID) is not held, because the kernel would withhold these rights.

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace dvm::runtime {

// The result of hold_exec():
// - held     The process is stopped at the entry point of its new program, and the calling thread is its tracer.
// - missed   The process executes a program that already runs, or has ended.
// - none     The process executes no program.
// - unknown  The process has no such thread. Its memory tells whether it has executed a program.
enum class ExecHold : uint8_t { held, missed, none, unknown };

// tell: lets the thread go on, once it is traced. is_over: it has executed a program before.
ExecHold hold_exec(pid_t pid, pid_t tid, const std::function<void()>& tell, const std::function<bool()>& is_over);
// Lets it run.
void end_hold(pid_t pid);

}  // namespace dvm::runtime
