// Tested by tests/fuzz/clause_fuzz_test.cpp.

#include "runtime/probe/enter.h"

#include <utility>

#include "common/hot.h"
#include "runtime/probe/fire.h"

namespace dvm::runtime {
namespace {

const ProbeEcbs& probe_of(const void* probe) { return *static_cast<const ProbeEcbs*>(probe); }

[[gnu::flatten]] DVM_HOT uint64_t enter_prepared(vm::BodyFrame& frame, const void* probe, vm::Firing& firing) noexcept {
  auto& level = static_cast<FireLevel&>(frame);
  if (has_ended(level, probe_of(probe))) return 0;
  level.firing = &firing;
  bool is_prepared = false;
  const Ecb& ecb = *probe_of(probe).ecbs.front();
  prepare_clause<Off>(level, probe_of(probe), ecb, firing, is_prepared);
  run_ecb<Unaccounted, Off>(level, ecb, firing);
  return 1;
}

// A light body prepares the machine state itself, if it comes to that.
[[gnu::flatten]] uint64_t enter_light_recording(vm::BodyFrame& frame, const void* probe, vm::Firing& firing) noexcept {
  auto& level = static_cast<FireLevel&>(frame);
  if (has_ended(level, probe_of(probe))) return 0;
  level.firing = level.entered = &firing;
  level.unprepared = &probe_of(probe);
  run_ecb<Unaccounted, Off>(level, *probe_of(probe).ecbs.front(), firing);
  level.unprepared = nullptr;
  return 1;
}

// The clause may have faulted in C++ that it called.
[[gnu::noinline]] void end_light(FireLevel& level, uint32_t done, const vm::Firing& firing) noexcept {
  if (done != level.ecb->code->action_count) end_early<Unaccounted, Off>(level, *level.ecb, done, firing);
}

// Of a light body without a record, mostly nothing is left to do behind it.
uint64_t enter_light(vm::BodyFrame& frame, const void* probe, vm::Firing& firing) noexcept {
  auto& level = static_cast<FireLevel&>(frame);
  if (has_ended(level, probe_of(probe))) return 0;
  level.firing = level.entered = &firing;
  level.unprepared = &probe_of(probe);
  level.ecb = probe_of(probe).ecbs.front();
  const uint32_t done = probe_of(probe).body->run(frame);
  if (std::exchange(level.unprepared, nullptr) == nullptr) [[unlikely]]
    end_light(level, done, firing);
  return 1;
}

// Of a plain body without a record, nothing is left to do behind it.
uint64_t enter_plain(vm::BodyFrame& frame, const void* probe, vm::Firing& firing) noexcept {
  if (has_ended(static_cast<FireLevel&>(frame), probe_of(probe))) return 0;
  frame.firing = &firing;
  return probe_of(probe).body->run(frame);
}

uint64_t enter_recording(vm::BodyFrame& frame, const void* probe, vm::Firing& firing) noexcept {
  auto& level = static_cast<FireLevel&>(frame);
  if (has_ended(level, probe_of(probe))) return 0;
  level.firing = &firing;
  level.ecb = probe_of(probe).ecbs.front();
  const uint32_t done = probe_of(probe).body->run(level);
  if (done == level.ecb->code->action_count) level.cpu->principal.commit(level.ecb->code->record_size);
  return done;
}

}  // namespace

void choose_way(ProbeEcbs& probe) {
  const EcbCode& code = *probe.ecbs.front()->code;
  probe.enter = nullptr, probe.gate = nullptr, probe.body = nullptr;
  if (probe.ecbs.size() != 1 || code.body == nullptr) return;
  probe.gate = code.gate;
  probe.body = code.body.get();
  if (code.is_plain)
    probe.enter = code.record_size == 0 ? enter_plain : enter_recording;
  else if (code.is_light)
    probe.enter = code.record_size == 0 ? enter_light : enter_light_recording;
  else
    probe.enter = enter_prepared;
}

}  // namespace dvm::runtime
