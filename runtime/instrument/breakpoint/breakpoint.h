#pragma once
// pid, usdt and syscall probes without privileges, in processes of the same user: execution breakpoints, which any user may
// set.
//
//   thread reaches the address ── perf event of the thread ── SIGURG to it ── it stops for its tracer, at that very instruction
//   dvm: registers, stack -> record, as a capture program would have left it ─ Delivery ─> EventSink; the thread goes on
//
// The thread stands still while its clauses run, so memory that they read is as it was at the firing, although it counts as a
// late read. The price is that each firing stops its thread until dvm has polled.
//
//   entry, instruction, marker   a breakpoint there, in every thread
//   return                       a breakpoint at the entry; then one in that thread where the call returns to
//   system call                  a ptrace stop at its begin and end, in the processes that a predicate names
//
// Invariants
//   - Breakpoints are file descriptors of dvm, and no byte of the process is changed. When dvm dies, in any way, the kernel
//     removes them, and then releases the threads. SIGURG is ignored by default, so one that is still on its way does
//     nothing.
//   - New threads are stopped at their birth and get their breakpoints before they run.
//   - Hits that did not become firings are counted, because a breakpoint counts its hits.
//
// int3, debug registers set by ptrace, and single steps could serve more places. But a dvm killed at the wrong moment would
// leave a SIGTRAP behind, which ends the process.
//
// Known limits
//   - A processor has four debug registers, so a process can have four different places. Returns need one in addition.
//   - A thread that blocks SIGURG does not stop: its firings are dropped.
//   - A semaphore would stay raised if dvm were killed, so markers with a semaphore are refused.
//   - Libraries that are opened later are not noticed, children are not followed, and a process that executes another program is
//     left alone.

#include <memory>

#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// Takes uprobe sites and system calls.
std::unique_ptr<Instrument> make_breakpoint_instrument();

}  // namespace dvm::runtime
