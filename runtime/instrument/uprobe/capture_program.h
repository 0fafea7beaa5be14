#pragma once
// The BPF program that writes a record of one layout. It runs in the traced thread, at the firing:
//
//   again:  begin a record: on the BPF stack or, too large for that, in the ring; no room there: drops of the CPU += 1, end
//           head, times, pid and tid, comm, arguments, the user stack
//           each slot: read the memory without faulting, those last whose address lies in another; that failed and attempts are
//           left: slow
//           put the record into the ring; no room: drops of the CPU += 1; end
//   slow:   give the record back if it is in the ring, fault the pages of all slots in (this may sleep), go to again
//
// At a tracepoint nothing can sleep, so there is no slow part; instead a gate stands first (kernel_emitter.h).
//
// If firings are only counted, the program writes only a counter of the probe.
//
// If there is a larger layout, the program starts again with it when a slot of the first one is too small: for a string without
// its NUL, or a size beyond the slot's room. Records of the larger layout name the group after the first one's.
//
// A slot that still cannot be read is marked absent. Only a layout with slots has the slow part, and only its program must sleep.
// A record made on the stack is cut after the bytes of its last slot, so the ring holds no padding.

#include <linux/bpf.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/catalog/kernel_event.h"
#include "runtime/instrument/uprobe/record.h"
#include "runtime/instrument/wanted_processes.h"

namespace dvm::runtime {

// 64-bit counters of firings, by the probe's id.
inline constexpr uint32_t kProbeCounters = 1u << 16;

// 64-bit counters of drops; CPUs beyond these share them.
inline constexpr uint32_t kCpuCounters = 1024;

// Maps that programs refer to.
struct ProgramMaps {
  int ring = -1;      // BPF_MAP_TYPE_RINGBUF
  int drops = -1;     // counters, one for each CPU
  int counts = -1;    // of firings, one for each probe: instead of records
  int followed = -1;  // processes that are followed (followed.h); -1: the probes are in one process only
  int32_t root = 0;   // whose, with its descendants
};

// The pid namespace whose numbers are wanted; all zero: the initial one, where no translation is needed.
struct PidNamespace {
  uint64_t device = 0;
  uint64_t inode = 0;
};

// Places where the kernel keeps the parts of a thread's CPU time (cpu_clock.h).
struct TaskLayout {
  int16_t exec_start = 0, sum_exec_runtime = 0, cfs_rq = 0;  // of a task_struct
  int16_t rq = 0;                                            // of a cfs_rq
  int16_t clock = 0, clock_task = 0;                         // of a rq
};

inline constexpr int32_t kMostCalls = 512;  // system calls that a table of ids has room for

// A condition of a KernelEvent, its members looked up.
struct KernelGateCondition {
  Operand left;
  KernelCondition::Is is = KernelCondition::Is::equal;
  int64_t value = 0;
  std::optional<Operand> right;
  int32_t mask = -1;

  friend bool operator==(const KernelGateCondition&, const KernelGateCondition&) = default;
};

// Which firings of a tracepoint are wanted, and whose they are.
struct Gate {
  uint32_t probe_id = 0;
  uint16_t group = 0;
  int ids_map = -1;           // of system calls, instead of the id: a table of them by number
  int16_t thread_status = 0;  // of a task_struct: says whether a call is one of i386
  std::vector<KernelGateCondition> when;
  WantedProcesses wanted;
  int32_t not_pid = 0;  // never this one
};

std::vector<bpf_insn> make_capture_program(const RecordLayouts& layouts, const ProgramMaps& maps, const PidNamespace& pids,
                                           const TaskLayout& tasks = {}, const Gate* gate = nullptr);

// True if the program faults pages in and so must be loaded as sleepable.
bool must_sleep(const RecordLayout& layout);

}  // namespace dvm::runtime
