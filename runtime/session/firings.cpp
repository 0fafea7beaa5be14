// From an instrument, or from dvm itself, to the ECB loop. Tested by tests/unit/runtime/handle_test.cpp.

#include <algorithm>
#include <utility>

#include "runtime/instrument/own_firing.h"
#include "runtime/session/impl.h"

namespace dvm::runtime {

const ProbeEcbs* Handle::Impl::find(uint32_t probe_id) const noexcept {
  if (probe_id < by_id.size()) return by_id[probe_id];
  return probe_id < kMostDirectIds ? nullptr : enabling.find(probe_id);
}

void Handle::Impl::fire(vm::Firing& firing) noexcept {
  if (only_cpu >= 0 && firing.cpu != only_cpu) return;
  if (const ProbeEcbs* probe = find(firing.probe_id)) {
    events++;
    deliver(*probe, firing);
  }
}

// Between two firings is the one moment at which a buffer can be emptied without a drop; at the rates it happens anyway.
void Handle::Impl::deliver(const ProbeEcbs& probe, vm::Firing& firing) noexcept {
  uint64_t begin = times() ? __rdtsc() : 0;
  CpuBuffer* cpu = session.cpus.find(firing.cpu);
  context->cpu = cpu ? cpu : &session.meet(firing.cpu);
  if (session.speculations.wants_cleaning()) clean_at_rate(config.is_replay ? firing.timestamp : polled_at);
  if (context->cpu->principal.wants_reading()) take_all(), flush();
  if (session.aggregations.half_full()) take_aggregations();
  host.serve(firing);
  fire_one(*context, probe, firing);
  if (times()) fire_ticks += __rdtsc() - begin;
}

// BEGIN and END fire in dvm itself.
void Handle::Impl::fire_own(std::string_view name) {
  for (const ProbeEcbs& probe : enabling.probes()) {
    if (!std::holds_alternative<InternalSite>(probe.probe->site) || probe.probe->name != name) continue;
    vm::Firing firing = own_firing();
    for (const Instrument* instrument : active)
      if (const auto moment = instrument->moment())
        firing.timestamp = moment->timestamp, firing.walltimestamp = moment->walltimestamp;
    deliver(probe, firing);
  }
  stop_if_filled();
}

// As in DTrace, other CPUs go on until it is noticed that the buffer of one is filled.
void Handle::Impl::stop_if_filled() {
  if (session.activity == Activity::active && session.cpus.is_filled()) session.activity = Activity::draining;
}

Result<uint64_t> Handle::Impl::poll_all() {
  uint64_t total = 0;
  double filled = 0;
  const Clock before = std::exchange(polled_at, read_clock(CLOCK_MONOTONIC));
  const uint64_t late_reads = host.late_reads();
  for (Instrument* instrument : active) {
    uint64_t begin = times() ? __rdtsc() : 0;
    uint64_t inside = fire_ticks;
    Result<uint64_t> count = instrument->poll(*this);
    if (!count) return count;
    stop_if_filled();
    total += *count;
    filled += instrument->filled();
    if (times() && *count > 0) {
      uint64_t ticks = __rdtsc() - begin;
      uint64_t elsewhere = fire_ticks - inside + *count * TickStamp::cost();
      session.stages[Stage::deliver] += {*count, *count, ticks - std::min(ticks, elsewhere), 0};
    }
  }
  const bool is_soon = acts_soon || host.late_reads() != late_reads;
  next_wait = wait_after(filled, static_cast<double>(polled_at - before), next_wait, is_soon ? kShortestWait : kLongestWait);
  return total;
}

}  // namespace dvm::runtime
