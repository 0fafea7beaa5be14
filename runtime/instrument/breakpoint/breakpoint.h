#pragma once
// pid, usdt and syscall probes without privileges, in processes of one's own user: execution breakpoints, as any user may set
// them.
//
//   thread reaches the address ── perf event of the thread ── SIGURG to it ── it stops for its tracer, at that very instruction
//   dvm: registers, stack -> record, as a capture program would have left it ─ Delivery ─> EventSink; the thread goes on
//
// The thread stands still while its clauses run, so what they read of its memory is as it was at the firing, though it is a late
// read by name. That is the price: each firing stops its thread until dvm has looked.
//
//   entry, instruction, marker   a breakpoint there, in every thread
//   return                       a breakpoint at the entry; then one in that thread where the call returns to
//   system call                  a ptrace stop at its begin and end, in the processes that a predicate names
//
// Invariants
//   - Breakpoints are file descriptors of dvm and no byte of the process is changed: when dvm dies, however it dies, the kernel
//     takes them off, and then lets go of the threads. SIGURG, by default, is ignored: one that is on its way then does nothing.
//   - Threads that are made are stopped at their birth and get their breakpoints before they run.
//   - Hits that did not become firings are counted: a breakpoint counts for itself.
//
// Neither int3, debug registers set by ptrace, nor single steps would do for more places: a dvm killed at the wrong moment would
// leave a SIGTRAP behind, which ends the process.
//
// Known limits
//   - A processor has four debug registers: so many different places in a process. Returns need one beside them.
//   - A thread that blocks SIGURG does not stop: its firings are dropped.
//   - A semaphore would stay raised if dvm were killed: markers that have one are refused.
//   - Libraries that are opened later are not noticed; children are not followed; a process that becomes another program is left.

#include <memory>

#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// Takes uprobe sites and system calls.
std::unique_ptr<Instrument> make_breakpoint_instrument();

}  // namespace dvm::runtime
