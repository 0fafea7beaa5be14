#pragma once
// The BPF program that writes a record of one layout. It runs in the traced thread, at the firing:
//
// 1. Begin a record on the BPF stack or, if it is too large for that, in the ring. No room there: count a drop, end.
// 2. Fill in the head, the times, pid and tid, comm, the arguments and the user stack.
// 3. For each slot, read the memory without faulting. Slots whose address lies in another slot come last. If a read failed and
//    attempts remain: slow.
// 4. Put the record into the ring. No room: count a drop. End.
//
// Slow: give the record back if it is in the ring, fault the pages of all slots in (this may sleep), and start again.
//
// At a tracepoint nothing can sleep, so there is no slow part; instead a gate stands first (kernel_emitter.h).
//
// If firings are only counted, the program writes only a counter of the probe.
//
// If there is a larger layout, the program starts again with it when a slot of the first one is too small. A slot is too small
// for a string without its NUL, or for a size beyond its room. Records of the larger layout name the group after the first one's.
//
// A slot that still cannot be read is marked absent; or unreadable, if a last read that may sleep fails too. For a record in the
// ring, that is the read of the slow part. Only a layout with slots has that part, and only its program must sleep. A record made
// on the stack is cut after the bytes of its last slot, so the ring holds no padding.

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
