#pragma once
// pid, usdt and syscall probes without privileges, in processes of the same user, by execution breakpoints, which any user may
// set.
//
//   thread reaches the address ── perf event of the thread ── SIGURG to it ── it stops for its tracer, at that instruction
//   dvm: registers, stack -> record, like a capture program's ─ Delivery ─> EventSink; the thread continues
//
// The thread is stopped while its clauses run, so memory that they read is unchanged since the firing, although it counts as a
// late read. The disadvantage is that each firing stops its thread until dvm has polled. Probes are placed as follows:
//
//   entry, instruction, marker   A breakpoint there, in every thread.
//   return                       A breakpoint at the entry. Then one in that thread, at the address to which the call returns.
//   system call                  A ptrace stop at its begin and end, in the processes that a predicate names.
//
// Invariants
//   - Breakpoints are file descriptors of dvm, and no byte of the process is changed. When dvm dies, in any way, the kernel
//   removes
//     them, and then releases the threads. A pending SIGURG has no effect, because it is ignored by default.
//   - New threads are stopped when they start, and get their breakpoints before they run.
//   - Hits that did not become firings are counted, because a breakpoint counts its hits.
//
// int3, debug registers set by ptrace, and single steps would allow more places. But if dvm were killed at the wrong moment, a
// SIGTRAP would remain pending, which ends the process.
//
// Known limits
//   - A processor has four debug registers, so a process can have four different places. Returns need one in addition.
//   - A thread that blocks SIGURG does not stop: its firings are dropped.
//   - A call that longjmp() leaves seems to return if the program reaches its return address before it calls anything else from
//     that stack frame.
//   - A semaphore would stay raised if dvm were killed, so markers with a semaphore are refused.
//   - Libraries that are opened later are not noticed, children are not followed, and a process that executes another program is
//     left alone.

#include <memory>

#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// Takes uprobe sites and system calls.
std::unique_ptr<Instrument> make_breakpoint_instrument();

}  // namespace dvm::runtime
