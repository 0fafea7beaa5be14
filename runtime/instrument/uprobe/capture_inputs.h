#pragma once
// The inputs of a capture program besides the layout of its records: maps, the pid namespace, the kernel's layout of CPU times,
// and the gate of a tracepoint.

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/catalog/kernel_event.h"
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
  int kept = -1;      // words that firings keep for later ones of their thread, by KeptKey
  int followed = -1;  // processes that are followed (followed.h). If -1, the probes are in one process only
  int32_t root = 0;   // the process that is followed, with its descendants
};

// The pid namespace whose numbers are wanted; all zero: the initial one, where no translation is needed.
struct PidNamespace {
  uint64_t device = 0;
  uint64_t inode = 0;
  int32_t level = 0;            // how many namespaces lie above it
  int32_t level_at = 0;         // of a struct pid, from its first number
  uint64_t address = 0;         // in the kernel; 0: not known, as are then the numbers of threads that are not its own
  Operand process{}, thread{};  // numbers of the running thread

  bool is_initial() const { return inode == 0; }
  bool knows_others() const { return is_initial() || address != 0; }
};

inline constexpr int32_t kNumberShift = 4;  // sizeof(struct upid) as a power of two: a number, and its namespace behind 8 bytes

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
struct CaptureGate {
  uint32_t probe_id = 0;
  uint16_t group = 0;
  int ids_map = -1;           // of system calls, instead of the id: a table of them by number
  int16_t thread_status = 0;  // of a task_struct: says whether a call is one of i386
  std::vector<KernelGateCondition> when;
  WantedProcesses wanted;
  int16_t memory = 0;       // of a task_struct: its memory
  uint64_t not_memory = 0;  // never a process with this one (own_memory.h); 0: any
};

}  // namespace dvm::runtime
