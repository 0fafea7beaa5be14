// Tested by tests/unit/runtime/handle_test.cpp and backend_test.cpp.

#include "runtime/backend/local/local_backend.h"

#include <algorithm>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kLongestTurn = 1 << 20;  // firings: an instrument faster than dvm must not keep it from the others

// Hands the firings of other instruments over, and before each of them the earlier ones that were kept back.
class MergedSink final : public EventSink {
 public:
  MergedSink(FiringPath& path, Merges& kept) : path_(path), kept_(kept) {}

  bool fire(vm::Firing& firing) noexcept override { return path_.fire(firing); }
  bool change(const ProcessChange& change) noexcept override { return path_.change(change); }
  bool has_buffers(int32_t cpu) noexcept override { return path_.has_buffers(cpu); }
  void end_poll() noexcept override { path_.end_poll(); }
  TracedTime traced_time() const noexcept override { return path_.traced_time(); }
  bool admits(uint64_t time) noexcept override {
    if (time > collected_) {
      collected_ = read_clock(CLOCK_MONOTONIC);
      kept_.collect();
    }
    return deliver_until(time);
  }

  // False: the poll ends. Delivers those at or before that time.
  bool deliver_until(uint64_t time) { return kept_.deliver_until(time, path_, count_); }
  uint64_t count() const { return count_; }

 private:
  FiringPath& path_;
  Merges& kept_;
  uint64_t collected_ = 0, count_ = 0;
};

}  // namespace

LocalBackend::LocalBackend(HandleConfig& config, const Enabling& enabling)
    : config_(config),
      host_(config),
      memory_(config.options, enabling, config.cost != vm::CostPolicy::none),
      instruments_(config.is_replay),
      path_(config, enabling, memory_, host_, instruments_) {}

Status LocalBackend::start(const Notice& notice) {
  FireContext& context = memory_.context();
  host_.speculate_in(context.speculations);
  if (Status status = memory_.allocate(host_, notice); !status) return status;
  if (!config_.is_replay && config_.options[dif::Option::noresolve] <= 0) context.addresses.make_room();
  if (config_.options[dif::Option::followfork] > 0) path_.expect_changes();
  path_.start();
  return {};
}

Status LocalBackend::extend() {
  if (Status status = memory_.make_room(); !status) return status;
  path_.index_probes();
  return {};
}

void LocalBackend::fire_end() {
  memory_.context().cpus.open_reserve();
  path_.clean();
  path_.fire_own("END", instruments_.moment());
  path_.clean();
}

// Any plan that the verifier admits runs here, so the probe alone decides. The clause matters to where it runs.
Answer LocalBackend::answer(const EcbPlan& plan, const Probe& probe) const {
  if (is_own(probe)) return {.by = "dvm itself", .reason = {}, .others = {}};
  return instruments_.answer(probe, plan.clause);
}

Result<uint64_t> LocalBackend::poll(Instrument& instrument) {
  const bool is_timed = config_.cost != vm::CostPolicy::none && config_.is_timed;
  const uint64_t begin = is_timed ? __rdtsc() : 0;
  const uint64_t inside = path_.ticks();
  Result<uint64_t> count = deliver(instrument);
  if (count && *count > 0 && is_timed) {
    const uint64_t ticks = __rdtsc() - begin;
    const uint64_t elsewhere = path_.ticks() - inside + *count * memory_.context().stamps.cost();
    memory_.context().stages[Stage::deliver] += {*count, *count, ticks - std::min(ticks, elsewhere), 0};
  }
  return count;
}

Result<uint64_t> LocalBackend::deliver(Instrument& instrument) {
  Merges* kept = instruments_.merges();
  if (kept == nullptr) return instrument.poll(path_);
  MergedSink sink(path_, *kept);
  if (instrument.abilities().merges == kept) {
    sink.deliver_until(merged_until_);
    return sink.count();
  }
  const Result<uint64_t> count = instrument.poll(sink);
  return count ? Result<uint64_t>(*count + sink.count()) : count;
}

// What is kept back has fired before the other instruments are polled, so they know all that was earlier. A poll that goes on
// collects as well, so that there is room for new firings while it handles those that it has.
void LocalBackend::begin_merge() {
  Merges* kept = instruments_.merges();
  if (kept == nullptr) return;
  kept->collect();
  if (next_ == 0 && turn_ == 0) merged_until_ = read_clock(CLOCK_MONOTONIC);
}

// They fire ahead of others that are not handled yet.
Result<uint64_t> LocalBackend::poll_overdue(MonotonicTime now) {
  Instrument* late = instruments_.overdue(now);
  return late == nullptr ? Result<uint64_t>(0) : poll(*late);
}

Status LocalBackend::fire_overdue(MonotonicTime now) {
  const Result<uint64_t> fired = poll_overdue(now);
  return fired ? Status() : fired.error();
}

// A poll that a firing has ended goes on with the same instrument, so firings keep their order.
Result<Polled> LocalBackend::poll() {
  Polled polled;
  const uint64_t late_reads = host_.late_reads();
  const MonotonicTime now = read_clock(CLOCK_MONOTONIC);
  path_.begin_poll(now);
  begin_merge();
  const Result<uint64_t> late = poll_overdue(now);
  if (!late) return late.error();
  polled.firings = *late;
  while (next_ < instruments_.active().size() && !polled.is_partial) {
    Instrument& instrument = *instruments_.active()[next_];
    const Result<uint64_t> count = poll(instrument);
    if (!count) return count.error();
    polled.firings += *count;
    polled.backlog += instrument.pacing().backlog;
    polled.is_partial = path_.ends_poll();
    turn_ += 1 + *count;
    if (polled.is_partial && turn_ < kLongestTurn) break;
    path_.stop_if_filled();
    next_++, turn_ = 0;
  }
  if (!polled.is_partial) next_ = 0;
  polled.is_urgent = host_.late_reads() != late_reads;
  return polled;
}

uint64_t LocalBackend::next_poll(uint64_t until, std::vector<int>& descriptors) {
  return instruments_.next_poll(until, descriptors);
}

std::optional<int> LocalBackend::end_status() const {
  const FireContext& context = memory_.context();
  return context.activity == Activity::active ? std::nullopt : std::optional(context.exit_status);
}

Drops LocalBackend::drops() {
  const FireContext& context = memory_.context();
  const std::vector<CpuBuffer>& cpus = context.cpus.all();
  Drops drops;
  for (size_t cpu = 0; cpu < cpus.size(); cpu++) {
    drops.add(Drop::principal, cpus[cpu].principal.drops(), cpu);
    drops.add(Drop::aggregation, cpus[cpu].aggregation_drops, cpu);
  }
  instruments_.add_drops(drops, cpus.size());
  drops.add(Drop::dynamic, context.variables ? context.variables->dynamic_drops() : 0);
  drops.add(Drop::speculative, context.speculations.drops());
  drops.add(Drop::busy, context.speculations.failed_busy());
  drops.add(Drop::unavailable, context.speculations.failed_unavailable());
  drops.add(Drop::double_error, context.errors_in_error);
  return drops;
}

FiringCounts LocalBackend::counts() const {
  const auto& variables = memory_.context().variables;
  return {path_.firings(), host_.late_reads(), host_.late_values(), variables ? variables->live_dynamic() : 0,
          host_.unknown_files()};
}

void LocalBackend::take_addresses(const VisitAddress& visit) {
  memory_.context().addresses.take_added([&](const SeenAddresses::SeenAddress& one) { visit(one.pid, one.address); });
  if (config_.options[dif::Option::noresolve] <= 0) instruments_.take_addresses(visit);
}

Abilities LocalBackend::abilities() {
  return {.follows = &instruments_,
          .watches = &instruments_,
          .holds = &instruments_,
          .replays = &instruments_,
          .notes = &instruments_,
          .losses = nullptr};
}

}  // namespace dvm::runtime
