#pragma once
// Threads that stand in a restartable sequence (rseq). The kernel aborts it when such a thread goes on, but not if the thread is
// first led elsewhere and then set back.

#include <sys/types.h>
#include <sys/user.h>

namespace dvm::runtime {

// The registers with which a stopped thread goes on: at the abort address of its sequence if it stands in one.
user_regs_struct out_of_sequence(pid_t tid, user_regs_struct registers);

}  // namespace dvm::runtime
