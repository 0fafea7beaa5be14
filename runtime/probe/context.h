#pragma once
// What the ECB loop works with. One thread owns all of it.

#include <cstdint>
#include <vector>

#include "dvm/vm/state.h"
#include "runtime/buffer/aggregation_buffer.h"
#include "runtime/buffer/seen_addresses.h"
#include "runtime/buffer/speculations.h"
#include "runtime/cost/stages.h"
#include "runtime/enabling/ecb.h"
#include "runtime/probe/chill.h"

namespace dvm::runtime {

// DTrace's activities as far as they show: after exit() only END and ERROR run.
enum class Activity : uint8_t { active, draining };

// What all firings of a consumer share.
struct FireSession {
  CpuBuffers cpus;
  uint64_t order = 0;  // of the next record
  AggregationBuffer aggregations;
  Speculations speculations;
  Activity activity = Activity::active;
  int exit_status = 0;
  uint64_t errors_in_error = 0;  // faults of clauses on the ERROR probe
  const ProbeEcbs* error_probe = nullptr;
  Chill chill;
  SeenAddresses addresses;  // recorded ones that are to be named
  Stages stages;            // filled in a run with accounting, on the sampled firings

  // The buffers of a CPU; of one that fires for the first time they are made, which is for consumer context.
  CpuBuffer& meet(int32_t cpu) {
    cpus.meet(cpu);
    if (cpus.knows(cpu)) speculations.meet(cpu);
    return cpus[cpu];
  }
};

struct FireContext {
  FireSession& session;
  vm::MachineState& state;
  vm::Host& host;
  const vm::FaultState& fault;         // of state
  std::vector<std::byte> key;          // room for the largest key
  const vm::Firing* firing = nullptr;  // that is processed
  CpuBuffer* cpu = nullptr;            // where it fired, set by who has it fire
  uint64_t speculation = 0;            // that takes the record of an ECB which speculates; 0: none does
  FireContext* error = nullptr;        // runs the ERROR probe, with a machine state of its own; null in that context itself

  FireContext(FireSession& s, vm::MachineState& m, vm::Host& h, size_t key_size)
      : session(s), state(m), host(h), fault(m.fault()), key(key_size) {}
};

}  // namespace dvm::runtime
