#pragma once
// pid and usdt probes without a trap and without privileges, in processes of the same user. The probed instruction becomes a jump
// to a stub, which writes the record in the thread that fires. runtime/agent has the process's side.
//
//   thread jumps to the stub ── record, as a capture program would leave it ──> its lane
//   dvm: lanes ── merged by time ── Delivery ─> EventSink; the thread has long gone on
//
// Known limits
//   - Returns are probed where a function executes `ret`; a function that is left in another way is refused.
//   - Markers with a semaphore and code of Go are refused.
//   - Children are not followed, and a process that executes another program is left alone.
//   - Memory and stacks are captured by process_vm_readv(2), for some 1.2 us each.

#include <cstddef>
#include <memory>

#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// ring_bytes: of all lanes that a few threads use together. by_breakpoints: breakpoints, not uprobes, get what it refuses.
std::unique_ptr<Instrument> make_agent_instrument(size_t ring_bytes, bool by_breakpoints);

}  // namespace dvm::runtime
