#pragma once
// The BPF program that writes a record of one layout. It runs in the traced thread, at the firing:
//
//   again:  begin a record: on the BPF stack or, too large for that, in the ring; no room there: drops of the CPU += 1, end
//           head, times, pid and tid, comm, arguments, the user stack
//           each slot: read the memory without faulting; slots whose address lies in another slot come last. If that failed and
//           attempts remain: slow
//           put the record into the ring; no room: drops of the CPU += 1; end
//   slow:   give the record back if it is in the ring, fault the pages of all slots in (this may sleep), go to again
//
// At a tracepoint nothing can sleep, so there is no slow part; instead a gate stands first (kernel_emitter.h).
//
// If firings are only counted, the program writes only a counter of the probe.
//
// If there is a larger layout, the program starts again with it when a slot of the first one is too small. A slot is too small
// for a string without its NUL, or for a size beyond its room. Records of the larger layout name the group after the first one's.
//
// A slot that still cannot be read is marked absent. Only a layout with slots has the slow part, and only its program must sleep.
// A record made on the stack is cut after the bytes of its last slot, so the ring holds no padding.

#include <linux/bpf.h>

#include <vector>

#include "runtime/instrument/uprobe/capture_inputs.h"
#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {

std::vector<bpf_insn> make_capture_program(const RecordLayouts& layouts, const ProgramMaps& maps, const PidNamespace& pids,
                                           const TaskLayout& tasks = {}, const CaptureGate* gate = nullptr);

// True if the program faults pages in and so must be loaded as sleepable.
bool must_sleep(const RecordLayout& layout);

}  // namespace dvm::runtime
