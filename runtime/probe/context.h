#pragma once
// A context: everything that firings change. One thread owns it, and shares nothing with other contexts but plans, code and ECBs,
// which do not change. The consumer merges what contexts leave: records by their order, aggregations by id and key; accounts are
// added up.
//
//   FireContext ── variables, buffers, speculations, tallies, caches, the order of records
//       ├─ level         machine state of the firing that is processed
//       └─ error_level   that of the ERROR probe, which fires in the midst of it

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

// DTrace's activities as far as they show: after exit() only END and ERROR run.
enum class Activity : uint8_t { active, draining };

using vm::KeylessState;

struct FireContext;

struct FireLevel : vm::BodyFrame {
  FireContext& context;
  vm::MachineState state;
  vm::Host& host;
  const vm::FaultState& fault;  // of state
  std::vector<std::byte> key_room;
  EcbTallies* tallies = nullptr;          // of `ecb`, with accounting
  CpuBuffer* cpu = nullptr;               // buffers of the CPU of the firing
  const Ecb* ecb = nullptr;               // the running ECB
  std::byte* record = nullptr;            // of `ecb`, if it leaves one
  uint64_t speculation = 0;               // takes the record of a speculating ECB; 0: none
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
  SeenAddresses addresses;  // recorded ones that are to be named
  std::optional<vm::VariableState> variables;
  std::optional<FireLevel> level, error_level;

  std::vector<EcbRuns> runs;  // of each ECB that is interpreted, by EPID - 1
  uint32_t until_timed = kTimedEvery;

  // Filled in a run with accounting; those of stages on the sampled firings.
  std::vector<EcbTallies> tallies;  // by EPID - 1
  Stages stages;
  StampClock stamps;

  // The buffers of a CPU; of one that fires for the first time they are made, which is for consumer context.
  CpuBuffer& meet(int32_t cpu) {
    cpus.meet(cpu);
    if (cpus.knows(cpu)) speculations.meet(cpu);
    return cpus[cpu];
  }
  // Makes the levels, once there are variables and `keyless` has its size.
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
