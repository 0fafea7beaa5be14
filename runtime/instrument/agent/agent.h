#pragma once
// pid and usdt probes without traps and privileges, in processes of the same user. The probed instruction becomes a jump to a
// stub. In the thread that fires, the stub runs simple clauses, or writes a record for dvm. runtime/agent is the part in the
// process.
//
//   thread jumps to the stub ── runs clauses ──> aggregations and variables of the thread
//                            ── writes a record, like a capture program ──> its lane
//   dvm: lanes ── merged by time ── Delivery ─> EventSink; the thread has continued meanwhile
//
// docs/manual/backends.md lists the code and the processes that an agent refuses.

#include <cstddef>
#include <memory>

#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// ring_bytes: of all lanes that a few threads use together. by_breakpoints: breakpoints, not uprobes, get what it refuses.
std::unique_ptr<Instrument> make_agent_instrument(size_t ring_bytes, bool by_breakpoints);

}  // namespace dvm::runtime
