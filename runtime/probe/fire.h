#pragma once
// The ECB loop runs the ECBs of a probe for each firing. Probe context: no allocation, no lock, no exception, no call into the
// consumer.
//
//   For each ECB of the probe, in program order:
//     Evaluate the predicate. False: next ECB.
//     Reserve the record. No room: count a drop, next ECB.
//     Run the actions in order. Fault: discard the record, fire the ERROR probe, next ECB.
//                               speculate() without a speculation: discard the record, next ECB.
//     Commit the record, to the principal buffer or to the speculation of the clause.
//
// DTrace caches for each thread that a predicate on the thread alone (pid, tid, execname ...) was false. Such a predicate has no
// side effects, so scripts cannot see the difference. Here, evaluating it costs less than finding the cache entry.
//
// After exit(), the rest of its clause still runs. Later ECBs do not, except those of END and ERROR. A fault discards only the
// record: changes of variables and aggregations before it stay.

#include <utility>

#include "common/hot.h"
#include "dvm/vm/set_variables.h"
#include "runtime/probe/actions.h"

namespace dvm::runtime {

template <class Accounting>
[[gnu::always_inline]] inline void fire_probe(FireLevel& level, const ProbeEcbs& probe, vm::Firing& firing) noexcept;

struct Off;  // accounting

// The number of the action at `position` of its clause, as in arg2 of ERROR: from 0, not counting expression statements.
inline uint32_t action_number(const EcbCode& code, uint32_t position) noexcept {
  uint32_t number = 0;
  for (uint32_t i = 0; i < position; i++) number += code.actions[i].kind != dif::Action::expression;
  return number;
}

// The number of a record that the firing leaves.
inline uint64_t next_order(FireContext& context, const vm::Firing& firing) noexcept {
  context.order.reach(firing.timestamp);
  return context.order.next();
}

// Reports the fault in level.state: leaves an ErrorRecord for the consumer, then fires the ERROR probe. As in DTrace, a fault in
// a clause of that probe is only counted. action: its number; 0 for the predicate.
template <class Accounting>
void raise_error(FireLevel& level, const Ecb& ecb, uint32_t action, const vm::Firing& firing) noexcept {
  FireContext& context = level.context;
  const vm::FaultState fault = level.fault;
  if (level.error == nullptr) {
    context.errors_in_error++;
    return;
  }
  ErrorRecord error{{0, sizeof(error), next_order(context, firing)}, ecb.epid, action, fault.pc * 4, fault.id, fault.value};
  PrincipalBuffer& principal = level.cpu->principal;
  if (std::byte* to = principal.reserve(sizeof(error))) {
    std::memcpy(to, &error, sizeof(error));
    principal.commit(sizeof(error));
  }
  if (context.error_probe == nullptr) return;
  vm::Firing again = firing;  // the ERROR probe fires in the same place, with its own arguments
  again.args = {0, ecb.epid, action, error.offset, static_cast<uint64_t>(fault.id), fault.value};
  again.memory = {};
  level.error->cpu = level.cpu;
  fire_probe<Accounting>(*level.error, *context.error_probe, again);
}

// Returns the index of the action that faulted or ended the clause, or the number of actions.
template <class Policy>
uint32_t run_actions(FireLevel& level, const Ecb& ecb, std::byte* record) noexcept {
  uint32_t index = 0;
  for (const ActionCode& action : ecb.code->actions) {
    [[maybe_unused]] typename Policy::Stamp stamp(level.context.stamps);
    bool ok = Policy::entry(action)(level, action, record);
    if constexpr (Policy::counts) tally_of(level, action).count++, stamp.close(tally_of(level, action));
    if (!ok) return index;
    index++;
  }
  return index;
}

template <class Policy>
bool predicate_holds(FireLevel& level, const Ecb& ecb) noexcept {
  if (!ecb.code->predicate) return true;
  [[maybe_unused]] typename Policy::Stamp stamp(level.context.stamps);
  uint64_t result = 0;
  bool holds = evaluate<Policy>(level, *ecb.code->predicate, result) && result != 0;
  if constexpr (Policy::counts) stamp.close(level.context.stages[Stage::predicate]);
  return holds;
}

// Reserves the record and writes its header. Null: there is no room.
inline std::byte* begin_record(FireLevel& level) noexcept {
  const uint32_t size = level.ecb->code->record_size;
  level.record = level.cpu->principal.reserve(size);
  if (level.record == nullptr) return nullptr;
  const RecordHeader header{level.ecb->epid, size, next_order(level.context, *level.firing)};
  std::memcpy(level.record, &header, sizeof(header));
  return level.record;
}

// Runs the predicate and the actions, and makes the record: the same work as the steps of a body (body.cpp), with the same
// result.
template <class Policy>
uint32_t run_parts(FireLevel& level, const Ecb& ecb) noexcept {
  if (!predicate_holds<Policy>(level, ecb)) return vm::kNotHeld;
  std::byte* record = nullptr;
  if (ecb.code->record_size != 0 && (record = begin_record(level)) == nullptr) return vm::kNoRoom;
  [[maybe_unused]] typename Policy::Stamp stamp(level.context.stamps);
  const uint32_t done = run_actions<Policy>(level, ecb, record);
  if constexpr (Policy::counts) stamp.close(level.context.stages[Stage::actions]);
  return done;
}

template <class Policy>
uint32_t run_body(FireLevel& level, const Ecb& ecb) noexcept {
  if constexpr (Policy::takes_body)
    if (ecb.code->body) return ecb.code->body->run(level);
  return run_parts<Policy>(level, ecb);
}

template <class Policy>
void count_stages(FireLevel& level, const EcbCode& code, uint32_t done) noexcept {
  if constexpr (Policy::counts) {
    level.context.stages[Stage::predicate].count += code.predicate.has_value();
    level.context.stages[Stage::actions].count += done <= code.action_count;
    level.tallies->predicate_hits += done != vm::kNotHeld;
  }
}

template <class Policy>
void note_fault(FireLevel& level) noexcept {
  if constexpr (Policy::counts) level.tallies->faults++;
}

// Copies a record from the principal buffer, where all records are made, to the speculation.
[[gnu::noinline]] inline void add_to_speculation(FireLevel& level, std::span<const std::byte> record) noexcept {
  if (const uint64_t id = std::exchange(level.speculation, 0)) level.context.speculations.add(id, level.firing->cpu, record);
}

// Handles a clause that ended before its last action, or whose predicate did not hold. Accounting is that of the ERROR probe.
template <class Policy, class Accounting>
[[gnu::noinline]] void end_early(FireLevel& level, const Ecb& ecb, uint32_t done, const vm::Firing& firing) noexcept {
  const EcbCode& code = *ecb.code;
  // If the state was not prepared, its fault is an old one.
  if (code.is_plain || level.unprepared || done == vm::kNoRoom || level.fault.id == dif::Fault::none) return;
  note_fault<Policy>(level);
  raise_error<Accounting>(level, ecb, done == vm::kNotHeld ? 0 : action_number(code, done), firing);
}

template <class Policy, class Accounting>
void run_ecb(FireLevel& level, const Ecb& ecb, const vm::Firing& firing) noexcept {
  const EcbCode& code = *ecb.code;
  level.ecb = &ecb;
  const uint32_t done = run_body<Policy>(level, ecb);
  count_stages<Policy>(level, code, done);
  if (done != code.action_count) return end_early<Policy, Accounting>(level, ecb, done, firing);
  if (code.speculates) return add_to_speculation(level, {level.record, code.record_size});
  level.cpu->principal.commit(code.record_size);
}

struct Off {
  static bool admits(FireLevel& level, const EcbCode& code, vm::Firing& firing) noexcept {
    constexpr auto holds = [](vm::BodyFrame&, const void*, vm::Firing&) noexcept { return uint64_t{1}; };
    return code.gate == nullptr || code.gate(level, nullptr, firing, holds) != 0;
  }
  static constexpr bool has_shorter_way = true;
  static void prepare(FireLevel& level, const ProbeEcbs&, vm::Firing& firing) noexcept {
    level.state.begin_firing(firing, level.host);
  }
  static void run(FireLevel& level, const Ecb& ecb, const vm::Firing& firing) noexcept {
    run_ecb<Unaccounted, Off>(level, ecb, firing);
  }
};

// Counts the firing. Returns the number of earlier firings.
inline uint64_t count_firing(FireLevel& level, const Ecb& ecb) noexcept {
  level.tallies = &level.context.tallies[ecb.epid - 1];
  level.action_tallies = reinterpret_cast<std::byte*>(level.tallies->actions.data());
  level.costs = level.tallies->costs.data();
  return level.tallies->firings++;
}

template <class Stamp>
void prepare_counted(FireLevel& level, vm::Firing& firing) noexcept {
  vm::Tally& stage = level.context.stages[Stage::prepare];
  Stamp stamp(level.context.stamps);
  level.state.begin_firing(firing, level.host);
  stage.count++;
  stamp.close(stage);
}

struct On {
  static bool admits(FireLevel&, const EcbCode&, vm::Firing&) noexcept { return true; }
  static constexpr bool has_shorter_way = false;
};

// Counts each firing and times a sample of them. The sample of the preparation follows the first ECB.
struct OnSample : On {
  static void prepare(FireLevel& level, const ProbeEcbs& probe, vm::Firing& firing) noexcept {
    if (times_stages(level.context.tallies[probe.ecbs.front()->epid - 1].firings))
      prepare_counted<TickStamp>(level, firing);
    else
      prepare_counted<NoStamp>(level, firing);
  }
  static void run(FireLevel& level, const Ecb& ecb, const vm::Firing& firing) noexcept {
    const uint64_t firing_number = count_firing(level, ecb);
    if (times_dif(firing_number))
      run_ecb<TimedDif, OnSample>(level, ecb, firing);
    else if (times_stages(firing_number))
      run_ecb<TimedStages, OnSample>(level, ecb, firing);
    else
      run_ecb<Counted, OnSample>(level, ecb, firing);
  }
};

// Counts each firing by one policy.
template <class Stamp, class Policy>
struct OnEach : On {
  static void prepare(FireLevel& level, const ProbeEcbs&, vm::Firing& firing) noexcept { prepare_counted<Stamp>(level, firing); }
  static void run(FireLevel& level, const Ecb& ecb, const vm::Firing& firing) noexcept {
    count_firing(level, ecb);
    run_ecb<Policy, OnEach>(level, ecb, firing);
  }
};

using OnCount = OnEach<NoStamp, Counted>;      // times no firing
using OnAlways = OnEach<TickStamp, TimedAll>;  // times all firings

// Sets the names of the probe. Instruments reuse the Firing object, mostly for the same probe.
inline void set_names(const Probe& probe, vm::Firing& firing) noexcept {
  firing.probe_id = probe.id;
  if (firing.name.data() == probe.name.data()) return;
  firing.provider = probe.provider;
  firing.module = probe.module;
  firing.function = probe.function;
  firing.name = probe.name;
}

// Prepares the machine state for a clause; for the first clause of a firing that needs it, also for the firing.
template <class Accounting>
void prepare_clause(FireLevel& level, const ProbeEcbs& probe, const Ecb& ecb, vm::Firing& firing, bool& is_prepared) noexcept {
  if (std::exchange(is_prepared, true)) return level.state.begin_clause(ecb.epid);
  set_names(*probe.probe, firing);
  firing.epid = ecb.epid;
  Accounting::prepare(level, probe, firing);
}

inline bool has_ended(const FireLevel& level, const ProbeEcbs& probe) noexcept {
  return level.context.activity != Activity::active && !probe.outlives_exit;
}

// Measures the cost of an interpreted clause, to decide on its translation.
template <class Accounting>
DVM_HOT void run_measured(FireLevel& level, const Ecb& ecb, const vm::Firing& firing) noexcept {
  EcbRuns& runs = level.context.runs[ecb.epid - 1];
  runs.firings++;
  if (--level.context.until_timed != 0) return Accounting::run(level, ecb, firing);
  level.context.until_timed = kTimedEvery;
  const uint64_t begin = vm::read_ticks();
  Accounting::run(level, ecb, firing);
  runs.add(vm::read_ticks() - begin);
}

// Separate from fire_probe(), which so saves no registers.
template <class Accounting>
[[gnu::noinline]] DVM_HOT void run_ecbs(FireLevel& level, const ProbeEcbs& probe, vm::Firing& firing) noexcept {
  level.firing = &firing;
  bool is_prepared = false;
  for (const Ecb* ecb : probe.ecbs) {
    if (has_ended(level, probe)) return;
    const EcbCode& code = *ecb->code;
    if (!Accounting::admits(level, code, firing)) continue;
    if (probe.needs_machine && !code.is_plain) prepare_clause<Accounting>(level, probe, *ecb, firing, is_prepared);
    if (!code.body)
      run_measured<Accounting>(level, *ecb, firing);
    else
      Accounting::run(level, *ecb, firing);
  }
}

// Runs one clause, with variables that were computed where the probe fired. Without accounting.
inline void fire_clause(FireLevel& level, const ProbeEcbs& probe, const Ecb& ecb, vm::Firing& firing,
                        std::span<vm::VariableValue> variables) noexcept {
  if (has_ended(level, probe)) return;
  level.firing = &firing;
  bool is_prepared = false;
  prepare_clause<Off>(level, probe, ecb, firing, is_prepared);
  vm::set_variables(level.state, variables);
  if (ecb.code->body)
    Off::run(level, ecb, firing);
  else
    run_measured<Off>(level, ecb, firing);
  vm::clear_variables(level.state, variables);
}

// Jumps to the function that runs the firing, so that a false predicate costs no extra call.
template <class Accounting>
inline void fire_probe(FireLevel& level, const ProbeEcbs& probe, vm::Firing& firing) noexcept {
  if constexpr (Accounting::has_shorter_way) {
    if (probe.gate != nullptr) return void(probe.gate(level, &probe, firing, probe.enter));
    if (probe.enter != nullptr) return void(probe.enter(level, &probe, firing));
  }
  run_ecbs<Accounting>(level, probe, firing);
}

}  // namespace dvm::runtime
