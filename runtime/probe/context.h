#pragma once
// A context: everything that firings change. One thread owns it. Contexts share only plans, code and ECBs, which are immutable.
// The consumer merges the results of contexts: records by their order, aggregations by id and key. Accounts are added.
//
//   FireContext ── variables, buffers, speculations, tallies, caches, the order of records
//       ├─ level         The machine state of the current firing.
//       └─ error_level   The machine state of the ERROR probe, which fires during another firing.

#include <cstdint>
#include <optional>
#include <vector>

#include "dvm/vm/state.h"
#include "runtime/buffer/aggregation_buffer.h"
#include "runtime/buffer/seen_addresses.h"
#include "runtime/buffer/speculations.h"
#include "runtime/probe/chill.h"
#include "runtime/probe/ecb.h"
#include "runtime/probe/runs.h"
#include "runtime/probe/stages.h"
#include "runtime/probe/tallies.h"

namespace dvm::runtime {

// The phases of DTrace that are visible: after exit(), only END and ERROR run.
enum class Activity : uint8_t { active, draining };

using vm::KeylessState;

struct FireContext;

struct FireLevel : vm::BodyFrame {
  FireContext& context;
  vm::MachineState state;
  vm::Host& host;
  const vm::FaultState& fault;  // of state
  std::vector<std::byte> key_room;
  EcbTallies* tallies = nullptr;  // of `ecb`, with accounting
  CpuBuffer* cpu = nullptr;       // buffers of the CPU of the firing

  const Ecb* ecb = nullptr;     // the running ECB
  std::byte* record = nullptr;  // of `ecb`, if it leaves one
  uint64_t speculation = 0;     // the speculation for the record of `ecb`; 0: none

  const ProbeEcbs* unprepared = nullptr;  // probe of a light body that has not prepared the machine state
  vm::Firing* entered = nullptr;          // the firing of `unprepared`
  FireLevel* error = nullptr;             // runs the ERROR probe; null in itself

  FireLevel(FireContext& c, vm::VariableState& variables, const vm::StateLimits& limits, vm::Host& h, size_t key_size);
  void make_key_room(size_t bytes) {
    if (bytes > key_room.size()) key_room.resize(bytes);
    key = key_room.data();
  }
};

struct FireContext {
  FireContext() = default;
  FireContext(const FireContext&) = delete;
  FireContext& operator=(const FireContext&) = delete;

  CpuBuffers cpus;
  RecordOrder order;
  AggregationBuffer aggregations;
  std::vector<KeylessState> keyless;  // by EnabledAggregation::number
  std::vector<RecentEntry> recent;    // likewise, of aggregations with keys
  Speculations speculations;
  Activity activity = Activity::active;
  int exit_status = 0;
  uint64_t errors_in_error = 0;  // faults of clauses on the ERROR probe
  const ProbeEcbs* error_probe = nullptr;
  Chill chill;
  SeenAddresses addresses;  // recorded addresses to be resolved
  std::optional<vm::VariableState> variables;
  std::optional<FireLevel> level, error_level;

  std::vector<EcbRuns> runs;  // of each ECB that is interpreted, by EPID - 1
  uint32_t until_timed = kTimedEvery;

  // Filled in a run with accounting; `stages` only at sampled firings.
  std::vector<EcbTallies> tallies;  // by EPID - 1
  Stages stages;
  StampClock stamps;

  // The buffers of a CPU. If the CPU fires for the first time, makes them. Consumer context.
  CpuBuffer& meet(int32_t cpu) {
    cpus.meet(cpu);
    if (cpus.knows(cpu)) speculations.meet(cpu);
    return cpus[cpu];
  }
  // Makes the levels. Call when there are variables and `keyless` has its size.
  void start(const vm::StateLimits& limits, vm::Host& host, size_t key_size) {
    recent.resize(keyless.size());
    level.emplace(*this, *variables, limits, host, key_size);
    error_level.emplace(*this, *variables, limits, host, key_size);
    level->error = &*error_level;
  }
};

inline FireLevel::FireLevel(FireContext& c, vm::VariableState& variables, const vm::StateLimits& limits, vm::Host& h,
                            size_t key_size)
    : context(c), state(variables, limits), host(h), fault(state.fault()) {
  make_key_room(key_size);
  machine = &state.impl();
  keyless = c.keyless.data();
  generation = c.aggregations.generation_address();
}

}  // namespace dvm::runtime
