// From an instrument, or from dvm itself, to the ECB loop. Tested by tests/unit/runtime/handle_test.cpp.

#include <algorithm>
#include <utility>

#include "runtime/instrument/own_firing.h"
#include "runtime/session/impl.h"

namespace dvm::runtime {
namespace {

constexpr unsigned kMostParts = 64;  // of one poll: a source faster than dvm must not keep it from its rates

}  // namespace

const ProbeEcbs* Handle::Impl::find(uint32_t probe_id) const noexcept {
  if (probe_id < by_id.size()) return by_id[probe_id];
  return probe_id < kMostDirectIds ? nullptr : enabling.find(probe_id);
}

bool Handle::Impl::fire(vm::Firing& firing) noexcept {
  const ProbeEcbs* probe = only_cpu >= 0 && firing.cpu != only_cpu ? nullptr : find(firing.probe_id);
  if (probe == nullptr) return true;
  events++;
  deliver(*probe, firing);
  ends_poll |= context.level->cpu->principal.wants_reading() || context.aggregations.half_full();
  return !ends_poll;
}

// A CPU that cannot exist uses the buffers of CPU 0.
bool Handle::Impl::has_buffers(int32_t cpu) noexcept {
  if (context.cpus.knows(cpu) || static_cast<uint32_t>(cpu) >= CpuBuffers::kMostCpus) return true;
  new_cpu = cpu;
  ends_poll = true;
  return false;
}

// Probe context: nothing here allocates, prints or writes a file.
void Handle::Impl::deliver(const ProbeEcbs& probe, vm::Firing& firing) noexcept {
  uint64_t begin = times() ? __rdtsc() : 0;
  context.level->cpu = &context.cpus[firing.cpu];
  if (context.speculations.wants_cleaning()) clean_at_rate(config.is_replay ? firing.timestamp : polled_at);
  host.serve(firing);
  fire_one(*context.level, probe, firing);
  if (times()) fire_ticks += __rdtsc() - begin;
}

// Consumer context, between two polls: empties buffers before they are full, and makes those of a new CPU.
void Handle::Impl::make_room_for_firings() {
  ends_poll = false;
  if (new_cpu >= 0) context.meet(std::exchange(new_cpu, -1));
  if (context.cpus.wants_reading()) take_all(), flush();
  if (context.aggregations.half_full()) take_aggregations();
  if (!changes.empty() && changes.size() == changes.capacity()) take_up_changes();
}

// BEGIN and END fire in dvm itself.
void Handle::Impl::fire_own(std::string_view name) {
  for (const ProbeEcbs& probe : enabling.probes()) {
    if (!std::holds_alternative<InternalSite>(probe.probe->site) || probe.probe->name != name) continue;
    vm::Firing firing = own_firing();
    for (Instrument* instrument : active) {
      const Replays* replays = instrument->abilities().replays;
      if (const auto moment = replays ? replays->moment() : std::nullopt)
        firing.timestamp = moment->timestamp, firing.walltimestamp = moment->walltimestamp;
    }
    deliver(probe, firing);
  }
  stop_if_filled();
}

// As in DTrace, other CPUs go on until it is noticed that the buffer of one is filled.
void Handle::Impl::stop_if_filled() {
  if (context.activity == Activity::active && context.cpus.is_filled()) context.activity = Activity::draining;
}

Result<uint64_t> Handle::Impl::poll_one(Instrument& instrument) {
  const uint64_t begin = times() ? __rdtsc() : 0;
  const uint64_t inside = fire_ticks;
  Result<uint64_t> count = instrument.poll(*this);
  if (count && *count > 0 && times()) {
    const uint64_t ticks = __rdtsc() - begin;
    const uint64_t elsewhere = fire_ticks - inside + *count * context.stamps.cost();
    context.stages[Stage::deliver] += {*count, *count, ticks - std::min(ticks, elsewhere), 0};
  }
  return count;
}

// A poll that a firing has ended is continued at once, so what has arrived is handled in the order of the instruments.
Result<uint64_t> Handle::Impl::poll_all() {
  uint64_t total = 0;
  double filled = 0;
  const Clock before = std::exchange(polled_at, read_clock(CLOCK_MONOTONIC));
  const uint64_t late_reads = host.late_reads();
  for (Instrument* instrument : active) {
    ends_poll = true;
    for (unsigned part = 0; ends_poll && part < kMostParts; part++) {
      make_room_for_firings();
      const Result<uint64_t> count = poll_one(*instrument);
      if (!count) return count;
      total += *count;
      filled += instrument->pacing().backlog;
    }
    stop_if_filled();
  }
  const bool is_soon = acts_soon || host.late_reads() != late_reads;
  next_wait = wait_after(filled, static_cast<double>(polled_at - before), next_wait, is_soon ? kShortestWait : kLongestWait);
  return total;
}

}  // namespace dvm::runtime
