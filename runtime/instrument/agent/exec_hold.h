#pragma once
// Holds a process that executes another program where that program begins, so that probes can be placed in it.
//
//   a thread waits before execve (inside/watch.h)   dvm becomes its tracer, and sees each system call
//   it executes the program                         a debug register at the entry point; the dynamic linker runs
//   it has come there                               stands still, all libraries mapped
//   it fails to, and makes another call             dvm lets it go
//
// No code is changed, so the process runs on whenever dvm is killed. A program that gains rights by its file (set-user-ID) is not
// held: the kernel would withhold them.

#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace dvm::runtime {

// held     the process stands at the entry point of its new program, and this thread of dvm is its tracer
// missed   it executes a program that runs, or has ended
// none     it executes none
enum class ExecHold : uint8_t { held, missed, none };

// tell: lets the thread go on, once it is traced.
ExecHold hold_exec(pid_t pid, pid_t tid, const std::function<void()>& tell);
// Lets it run.
void end_hold(pid_t pid);

}  // namespace dvm::runtime
