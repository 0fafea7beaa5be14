#pragma once
// PTRACE_SEIZE that ends. When a thread executes a program, the kernel waits until the other threads of the process are gone, and
// PTRACE_SEIZE waits for the kernel. A dead thread that dvm traces is not gone before dvm has waited for it. Without this, dvm
// and the program would wait for each other for ever.

#include <sys/types.h>

#include <string>

namespace dvm::runtime {

// False: errno is that of ptrace(2). EINTR: the process has not finished to execute a program in time. EAGAIN: dvm gets no timer.
bool seize_thread(pid_t tid, long options);

// In words, by that errno.
std::string seize_problem(pid_t tid, int error);

}  // namespace dvm::runtime
