#pragma once
// The ECB loop: a firing meets the ECBs of its probe. Probe context: no allocation, no lock, no exception, no call into the
// consumer.
//
//   for each ECB of the probe, in program order
//     predicate ── false: next ECB
//     reserve the record ── no room: a drop, next ECB
//     actions in order ── fault: what the clause has written is forgotten, the ERROR probe fires, next ECB
//                      ── speculate() without a speculation: likewise, but nothing fires
//     commit the record, to the principal buffer or to the speculation that the clause speculates to
//
// DTrace keeps for a thread that a predicate on nothing but the thread (pid, tid, execname ...) was false, and does not ask
// again. Such a predicate changes nothing, so a script cannot tell; here it costs less to ask than to look the thread up.
//
// After exit() the rest of its clause still runs; ECBs behind it do not, except those of END and ERROR. State changed before a
// fault (variables, aggregations) stays changed; only records are taken back.

#include <utility>

#include "runtime/probe/actions.h"

namespace dvm::runtime {

template <class Accounting>
void fire_probe(FireContext& context, const ProbeEcbs& probe, vm::Firing& firing) noexcept;

struct Off;  // accounting

// Which action of its clause is at `position`, as arg2 of ERROR counts them: from 0, statements that only compute left out.
inline uint32_t action_number(const Ecb& ecb, uint32_t position) noexcept {
  uint32_t number = 0;
  for (uint32_t i = 0; i < position; i++) number += ecb.actions[i].kind != dif::Action::expression;
  return number;
}

// Reports the fault in context.state: an ErrorRecord for the consumer, then the ERROR probe. A fault in a clause of that probe is
// only counted, as in DTrace. action: its number; the predicate's is 0.
template <class Accounting>
void raise_error(FireContext& context, Ecb& ecb, uint32_t action, const vm::Firing& firing) noexcept {
  FireSession& session = context.session;
  const vm::FaultState fault = context.fault;
  if (context.error == nullptr) {
    session.errors_in_error++;
    return;
  }
  ErrorRecord error{{0, sizeof(error), session.order++}, ecb.epid, action, fault.pc * 4, fault.id, fault.value};
  PrincipalBuffer& principal = context.cpu->principal;
  if (std::byte* to = principal.reserve(sizeof(error))) {
    std::memcpy(to, &error, sizeof(error));
    principal.commit(sizeof(error));
  }
  if (session.error_probe == nullptr) return;
  vm::Firing again = firing;  // the ERROR probe fires where the fault was, with arguments of its own
  again.args = {0, ecb.epid, action, error.offset, static_cast<uint64_t>(fault.id), fault.value};
  again.memory = {};
  context.error->cpu = context.cpu;
  fire_probe<Accounting>(*context.error, *session.error_probe, again);
}

// The index of the action that faulted or ended the clause, or the number of actions.
template <class Policy>
uint32_t run_actions(FireContext& context, Ecb& ecb, std::byte* record) noexcept {
  uint32_t index = 0;
  for (Action& action : ecb.actions) {
    [[maybe_unused]] typename Policy::Stamp stamp;
    bool ok = Policy::entry(action)(context, action, record);
    if constexpr (Policy::counts) action.tally.count++, stamp.close(action.tally);
    if (!ok) return index;
    index++;
  }
  return index;
}

template <class Policy>
bool predicate_holds(FireContext& context, Ecb& ecb) noexcept {
  if (!ecb.predicate) return true;
  [[maybe_unused]] typename Policy::Stamp stamp;
  uint64_t result = 0;
  bool holds = evaluate<Policy>(context, *ecb.predicate, result) && result != 0;
  if constexpr (Policy::counts) {
    context.session.stages[Stage::predicate].count++;
    stamp.close(context.session.stages[Stage::predicate]);
  }
  return holds;
}

template <class Policy>
void note_fault(Ecb& ecb) noexcept {
  if constexpr (Policy::counts) ecb.tallies.faults++;
}

// A record is made in the principal buffer, whatever becomes of it.
inline void add_to_speculation(FireContext& context, std::span<const std::byte> record) noexcept {
  if (const uint64_t id = std::exchange(context.speculation, 0))
    context.session.speculations.add(id, context.firing->cpu, record);
}

// Accounting is passed on to the ERROR probe.
template <class Policy, class Accounting>
void run_ecb(FireContext& context, Ecb& ecb, const vm::Firing& firing) noexcept {
  FireSession& session = context.session;
  if (!predicate_holds<Policy>(context, ecb)) {
    if (context.fault.id == dif::Fault::none) return;
    note_fault<Policy>(ecb);
    return raise_error<Accounting>(context, ecb, 0, firing);
  }
  if constexpr (Policy::counts) ecb.tallies.predicate_hits++;
  std::byte* record = nullptr;
  if (ecb.record_size != 0) {
    record = context.cpu->principal.reserve(ecb.record_size);
    if (record == nullptr) return;
    RecordHeader header{ecb.epid, ecb.record_size, session.order++};
    std::memcpy(record, &header, sizeof(header));
  }
  [[maybe_unused]] typename Policy::Stamp stamp;
  uint32_t done = run_actions<Policy>(context, ecb, record);
  if constexpr (Policy::counts) session.stages[Stage::actions].count++, stamp.close(session.stages[Stage::actions]);
  if (done != ecb.actions.size()) {
    if (context.fault.id == dif::Fault::none) return;
    note_fault<Policy>(ecb);
    return raise_error<Accounting>(context, ecb, action_number(ecb, done), firing);
  }
  if (ecb.speculates) return add_to_speculation(context, {record, ecb.record_size});
  context.cpu->principal.commit(ecb.record_size);
}

struct Off {
  static void prepare(FireContext& context, const ProbeEcbs&, vm::Firing& firing) noexcept {
    context.state.begin_firing(firing, context.host);
  }
  static void run(FireContext& context, Ecb& ecb, const vm::Firing& firing) noexcept {
    run_ecb<Unaccounted, Off>(context, ecb, firing);
  }
};

template <class Stamp>
void prepare_counted(FireContext& context, vm::Firing& firing) noexcept {
  vm::Tally& stage = context.session.stages[Stage::prepare];
  Stamp stamp;
  context.state.begin_firing(firing, context.host);
  stage.count++;
  stamp.close(stage);
}

// Counts each firing and times a sample of them. The first ECB stands for the preparation of all.
struct OnSample {
  static void prepare(FireContext& context, const ProbeEcbs& probe, vm::Firing& firing) noexcept {
    if (times_stages(probe.ecbs.front()->tallies.firings))
      prepare_counted<TickStamp>(context, firing);
    else
      prepare_counted<NoStamp>(context, firing);
  }
  static void run(FireContext& context, Ecb& ecb, const vm::Firing& firing) noexcept {
    uint64_t firing_number = ecb.tallies.firings++;
    if (times_dif(firing_number))
      run_ecb<TimedDif, OnSample>(context, ecb, firing);
    else if (times_stages(firing_number))
      run_ecb<TimedStages, OnSample>(context, ecb, firing);
    else
      run_ecb<Counted, OnSample>(context, ecb, firing);
  }
};

// Counts each firing, and times none.
struct OnCount {
  static void prepare(FireContext& context, const ProbeEcbs&, vm::Firing& firing) noexcept {
    prepare_counted<NoStamp>(context, firing);
  }
  static void run(FireContext& context, Ecb& ecb, const vm::Firing& firing) noexcept {
    ecb.tallies.firings++;
    run_ecb<Counted, OnCount>(context, ecb, firing);
  }
};

// Times every firing.
struct OnAlways {
  static void prepare(FireContext& context, const ProbeEcbs&, vm::Firing& firing) noexcept {
    prepare_counted<TickStamp>(context, firing);
  }
  static void run(FireContext& context, Ecb& ecb, const vm::Firing& firing) noexcept {
    ecb.tallies.firings++;
    run_ecb<TimedAll, OnAlways>(context, ecb, firing);
  }
};

// An instrument uses a firing again for the next one, mostly of the same probe.
inline void set_names(const Probe& probe, vm::Firing& firing) noexcept {
  firing.probe_id = probe.id;
  if (firing.name.data() == probe.name.data()) return;
  firing.provider = probe.provider;
  firing.module = probe.module;
  firing.function = probe.function;
  firing.name = probe.name;
}

template <class Accounting>
void fire_probe(FireContext& context, const ProbeEcbs& probe, vm::Firing& firing) noexcept {
  set_names(*probe.probe, firing);
  context.firing = &firing;
  if (probe.needs_machine) Accounting::prepare(context, probe, firing);
  for (Ecb* ecb : probe.ecbs) {
    if (context.session.activity != Activity::active && !probe.outlives_exit) return;
    if (probe.needs_machine) context.state.begin_clause(ecb->epid);
    Accounting::run(context, *ecb, firing);
  }
}

}  // namespace dvm::runtime
