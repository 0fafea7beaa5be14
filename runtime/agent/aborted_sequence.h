#pragma once
// Threads that are in a restartable sequence (rseq). The kernel aborts the sequence when such a thread continues, but not if the
// thread first runs other code and its registers are then restored.

#include <sys/types.h>
#include <sys/user.h>

namespace dvm::runtime {

// The registers with which a stopped thread goes on: at the abort address of its sequence if it stands in one.
user_regs_struct out_of_sequence(pid_t tid, user_regs_struct registers);

}  // namespace dvm::runtime
