// Tested by tests/unit/runtime/handle_test.cpp.

#include "runtime/backend/local/firing_path.h"

#include <utility>

#include "common/clock.h"
#include "common/hot.h"
#include "runtime/instrument/own_firing.h"
#include "runtime/instrument/pace.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostDirectIds = 1 << 20;

}  // namespace

void FiringPath::start() {
  is_timed_ = config_.cost != vm::CostPolicy::none && config_.is_timed;
  if (config_.cost == vm::CostPolicy::blocks) fire_one_ = is_timed_ ? fire_probe<OnSample> : fire_probe<OnCount>;
  if (config_.cost == vm::CostPolicy::time) fire_one_ = fire_probe<OnAlways>;
  if (config_.cost != vm::CostPolicy::none) context_.stamps.calibrate();
  only_cpu_ = config_.options[dif::Option::cpu];
  cleaning_.start(config_.is_replay ? 0 : read_clock(CLOCK_MONOTONIC), config_.options[dif::Option::cleanrate]);
  index_probes();
}

void FiringPath::index_probes() {
  for (const ProbeEcbs& probe : enabling_.probes()) {
    if (is_own(*probe.probe, "ERROR")) context_.error_probe = &probe;
    const uint32_t id = probe.probe->id;
    if (id >= kMostDirectIds) continue;
    if (by_id_.size() <= id) by_id_.resize(id + 1);
    by_id_[id] = &probe;
  }
}

const ProbeEcbs* FiringPath::find(uint32_t probe_id) const noexcept {
  if (probe_id < by_id_.size()) return by_id_[probe_id];
  return probe_id < kMostDirectIds ? nullptr : enabling_.find(probe_id);
}

void FiringPath::begin_poll(MonotonicTime now) {
  polled_at_ = now;
  ends_poll_ = false;
  part_ends_ = firings_ + kFiringsOfAPart;
  if (new_cpu_ >= 0) context_.meet(std::exchange(new_cpu_, -1));
  if (context_.variables) globals_.take_changes(*context_.variables);
}

inline void FiringPath::prepare(vm::Firing& firing) noexcept {
  context_.level->cpu = &context_.cpus[firing.cpu];
  context_.aggregations.select(firing.cpu);
  if (context_.speculations.wants_cleaning()) clean_at_rate(config_.is_replay ? firing.timestamp : polled_at_);
  host_.serve(firing);
}

inline void FiringPath::deliver(const ProbeEcbs& probe, vm::Firing& firing) noexcept {
  const uint64_t begin = is_timed_ ? __rdtsc() : 0;
  prepare(firing);
  fire_one_(*context_.level, probe, firing);
  if (is_timed_) ticks_ += __rdtsc() - begin;
}

// False: the poll ends.
inline bool FiringPath::count() noexcept {
  firings_++;
  ends_poll_ |= context_.level->cpu->principal.wants_reading() || context_.aggregations.wants_reading() || firings_ >= part_ends_;
  return !ends_poll_;
}

bool FiringPath::drop(int32_t cpu) noexcept {
  context_.cpus[cpu].principal.drop();
  return true;
}

// What fires where it reads them, and not in dvm, does not know that the run has ended.
void FiringPath::tell_globals() noexcept {
  if (context_.activity == Activity::active) globals_.update(*context_.variables);
}

// tick-N fires in dvm, on whatever CPU that runs; like BEGIN, it counts as a firing of the one CPU.
bool FiringPath::is_of_one_cpu(const Probe& probe, vm::Firing& firing) const noexcept {
  const auto* timer = std::get_if<TimerSite>(&probe.site);
  if (timer != nullptr && !timer->every_cpu) firing.cpu = static_cast<int32_t>(only_cpu_);
  return firing.cpu == only_cpu_;
}

DVM_HOT bool FiringPath::fire(vm::Firing& firing) noexcept {
  if (traced_.drops(firing.timestamp)) return true;
  const ProbeEcbs* probe = find(firing.probe_id);
  if (probe == nullptr || (only_cpu_ >= 0 && !is_of_one_cpu(*probe->probe, firing))) return true;
  if (drops_rest_) return drop(firing.cpu);
  if (std::holds_alternative<TimerSite>(probe->probe->site)) timer_firings_++, globals_.take_changes(*context_.variables);
  deliver(*probe, firing);
  if (!globals_.empty()) tell_globals();
  return count();
}

bool FiringPath::fire_clause(vm::Firing& firing, const ClauseFiring& clause) noexcept {
  const Ecb* ecb = enabling_.ecb(clause.epid);
  const ProbeEcbs* probe = ecb == nullptr ? nullptr : find(firing.probe_id);
  if (probe == nullptr || ecb->probe != probe->probe || traced_.drops(firing.timestamp)) return true;
  if (drops_rest_) return drop(firing.cpu);
  prepare(firing);
  host_.refuse(clause.unreadable);
  runtime::fire_clause(*context_.level, *probe, *ecb, firing, clause.variables);
  host_.refuse(0);
  return count();
}

// A fork is noted at once, since clauses may ask who the parent is.
bool FiringPath::change(const ProcessChange& change) noexcept {
  if (change.what == ProcessChange::What::renumbered) {
    if (context_.variables) context_.variables->forget_thread(change.child);
    return !ends_poll_;
  }
  if (change.what == ProcessChange::What::forked) host_.add_child(change.child, change.pid);
  changes_.push_back(change);
  ends_poll_ |= changes_.size() == changes_.capacity();
  return !ends_poll_;
}

// A CPU that cannot exist uses the buffers of CPU 0.
bool FiringPath::has_buffers(int32_t cpu) noexcept {
  if (context_.cpus.knows(cpu) || static_cast<uint32_t>(cpu) >= CpuBuffers::kMostCpus) return true;
  new_cpu_ = cpu;
  ends_poll_ = true;
  return false;
}

std::vector<ProcessChange> FiringPath::take_changes() {
  std::vector<ProcessChange> taken(changes_.begin(), changes_.end());
  changes_.clear();  // its memory stays
  return taken;
}

void FiringPath::begin() {
  tell_globals();
  if (!config_.is_replay) traced_.begin = read_clock(CLOCK_MONOTONIC);
}

void FiringPath::end(MonotonicTime now) {
  if (!config_.is_replay) traced_.end = now;
}

void FiringPath::fire_own(std::string_view name, const std::optional<Moment>& moment) {
  for (const ProbeEcbs& probe : enabling_.probes()) {
    if (!is_own(*probe.probe, name)) continue;
    globals_.take_changes(*context_.variables);
    vm::Firing firing = own_firing();
    if (only_cpu_ >= 0) firing.cpu = static_cast<int32_t>(only_cpu_);
    if (moment) firing.timestamp = moment->timestamp, firing.walltimestamp = moment->walltimestamp;
    deliver(probe, firing);
  }
  stop_if_filled();
}

void FiringPath::stop_if_filled() {
  if (context_.activity == Activity::active && context_.cpus.is_filled()) context_.activity = Activity::draining;
}

// In a replay by the times of its firings, so that it comes out the same each time.
void FiringPath::clean_at_rate(MonotonicTime now) {
  if (!cleaning_.due(now)) return;
  clean();
  cleaning_.done(now, config_.options[dif::Option::cleanrate]);
}

void FiringPath::clean() { context_.speculations.clean(context_.cpus, context_.order); }

}  // namespace dvm::runtime
