#pragma once
// Waits for threads that dvm traces. waitpid() reports the end of a child only once, perhaps to code that waits for its stops. So
// the status is kept for the Process. Tested by tests/unit/instrument/process_test.cpp.

#include <sys/types.h>

#include <optional>

namespace dvm::runtime {

// Keeps the status of this child from now on.
void keep_status(pid_t child);
// waitpid() of a traced thread, without waiting.
pid_t look_at_thread(pid_t tid, int& status);
// The status of a child whose end look_at_thread() has seen, as waitpid() gives it. It is not kept any longer.
std::optional<int> take_status(pid_t child);

}  // namespace dvm::runtime
