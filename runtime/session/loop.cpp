// Waiting for firings, output at the rates, and the end. Tested by tests/unit/runtime/handle_test.cpp.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "runtime/session/impl.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostWakers = 8;

// Adds the ticks of its scope to a stage of the account: what the consumer does is seldom enough to be timed always.
class StageTimer {
 public:
  explicit StageTimer(vm::Tally& stage) : stage_(stage), begin_(__rdtsc()) {}
  ~StageTimer() { stage_.count++, stage_.timed++, stage_.ticks += __rdtsc() - begin_; }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  vm::Tally& stage_;
  uint64_t begin_;
};

}  // namespace

void Handle::Impl::wait(Clock until) {
  Clock now = read_clock(CLOCK_MONOTONIC);
  for (Instrument* instrument : active) until = std::min(until, instrument->pacing().deadline);
  if (!active.empty()) until = std::min(until, now + static_cast<Clock>(next_wait));
  if (until <= now) return;
  timespec time{static_cast<time_t>((until - now) / 1'000'000'000), static_cast<long>((until - now) % 1'000'000'000)};
  std::array<pollfd, kMostWakers> wakers{pollfd{wake, POLLIN, 0}};
  nfds_t count = 1;
  for (Instrument* instrument : active)
    if (const int descriptor = instrument->pacing().descriptor; descriptor >= 0 && count < wakers.size())
      wakers[count++] = {descriptor, POLLIN, 0};
  ppoll(wakers.data(), count, &time, nullptr);
}

// A recording of which nobody wants a probe is over at once; live, more may come to be traced.
bool Handle::Impl::all_finished() const {
  if (active.empty()) return config.is_replay;
  return std::all_of(active.begin(), active.end(), [](Instrument* one) {
    const Replays* replays = one->abilities().replays;
    return replays != nullptr && replays->finished();
  });
}

// While the processes are there, and before they map anything else where it was.
void Handle::Impl::name_addresses() {
  UserSymbols& symbols = consumer.symbols();
  context.addresses.take_added([&](const SeenAddresses::Entry& one) { symbols.meet(one.pid, one.address); });
  symbols.meet_again();
}

// Handles what has fired. False: it was the last.
bool Handle::Impl::look() {
  if (is_done()) return false;
  Result<uint64_t> count = poll_all();
  if (!count) failure = count.error();
  name_addresses();
  if (!changes.empty()) take_up_changes();
  if (!watched.empty()) match_late();
  if (are_targets_gone()) return false;
  return !is_done() && !all_finished();
}

bool Handle::work() {
  Impl& impl = *impl_;
  if (!impl.is_running || impl.is_stopped) return false;
  const Clock deadline = impl.next_rate();
  for (Clock now = 0; now < deadline; now = read_clock(CLOCK_MONOTONIC)) {
    if (!impl.look()) return false;
    impl.wait(deadline);
  }
  impl.work_at_rates(read_clock(CLOCK_MONOTONIC));
  return !impl.is_done();
}

bool Handle::look() {
  Impl& impl = *impl_;
  return impl.is_running && !impl.is_stopped && impl.look();
}

bool Handle::rest() {
  Impl& impl = *impl_;
  impl.wait(impl.next_rate());
  if (const Clock now = read_clock(CLOCK_MONOTONIC); now >= impl.next_rate()) impl.work_at_rates(now);
  return !impl.is_done();
}

void Handle::interrupt() noexcept {
  impl_->interrupted.store(true, std::memory_order_relaxed);
  impl_->wake_up();
}

void Handle::targets_gone() noexcept {
  impl_->targets_gone.store(true, std::memory_order_relaxed);
  impl_->wake_up();
}

void Handle::Impl::wake_up() const noexcept {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake, &one, sizeof(one));
}

void Handle::Impl::take_aggregations() {
  StageTimer timer(context.stages[Stage::snapshot_aggregations]);
  consumer.take(context.aggregations);
}

void Handle::Impl::take_records() {
  std::vector<RecordLane> lanes;
  {
    StageTimer timer(context.stages[Stage::snapshot_records]);
    lanes = context.cpus.take_records();
  }
  StageTimer timer(context.stages[Stage::print]);
  consumer.consume(std::move(lanes));
}

// Losses on a CPU that is not known count for CPU 0.
uint64_t Handle::Impl::drops_on(Instrument& instrument, uint32_t cpu) {
  if (const CountsLosses* losses = instrument.abilities().losses) return losses->drops_on(cpu);
  return cpu == 0 ? instrument.drops() : 0;
}

Drops Handle::Impl::drops() const {
  Drops drops;
  for (size_t cpu = 0; cpu < context.cpus.all().size(); cpu++) {
    drops.add(Drop::principal, context.cpus.all()[cpu].principal.drops(), cpu);
    drops.add(Drop::aggregation, context.cpus.all()[cpu].aggregation_drops, cpu);
    for (Instrument* instrument : active) drops.add(Drop::principal, drops_on(*instrument, static_cast<uint32_t>(cpu)), cpu);
  }
  for (Instrument* instrument : active)
    if (const CountsLosses* losses = instrument->abilities().losses) drops.add(Drop::returns, losses->missed_returns());
  drops.add(Drop::dynamic, context.variables->dynamic_drops());
  drops.add(Drop::speculative, context.speculations.drops());
  drops.add(Drop::busy, context.speculations.failed_busy());
  drops.add(Drop::unavailable, context.speculations.failed_unavailable());
  drops.add(Drop::double_error, context.errors_in_error);
  return drops;
}

void Handle::Impl::report_drops() {
  Drops now = drops();
  drop_reports += consumer.report_drops(reported, now);
  reported = std::move(now);
}

// What one report said need not be said again.
void Handle::Impl::sum_up_drops() {
  if (drop_reports > 1) consumer.notice(drops_summary(reported));
}

// Aggregations first, so that the records' printa() sees all that fired before it.
void Handle::Impl::take_all() {
  take_aggregations();
  take_records();
}

// In a replay by the times of its firings, so that it comes out the same each time.
void Handle::Impl::clean_at_rate(Clock now) {
  if (!cleaning.due(now)) return;
  clean();
  cleaning.done(now, config.options[dif::Option::cleanrate]);
}

void Handle::Impl::clean() { context.speculations.clean(context.cpus, context.order); }

void Handle::Impl::flush() {
  const Clock begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  Status status = consumer.flush();
  writing_ns += read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
  if (!status && failure) failure = status;
}

// Buffers of the other policies are read at the end. trunc(), clear() and printa() act on all that was aggregated before them,
// also where aggregations are taken less often.
void Handle::Impl::take_switched() {
  if (static_cast<BufferPolicy>(config.options[dif::Option::bufpolicy]) != BufferPolicy::switch_) return;
  if (consumer.uses_aggregations() && !context.aggregations.empty()) take_aggregations();
  take_records();
}

// In the order of take_all().
void Handle::Impl::work_at_rates(Clock now) {
  if (aggregating.due(now)) take_aggregations(), aggregating.done(now, config.options[dif::Option::aggrate]);
  if (!config.is_replay) clean_at_rate(now);
  if (switching.due(now)) take_switched(), switching.done(now, config.options[dif::Option::switchrate]);
  if (reporting.due(now)) report_drops(), reporting.done(now, config.options[dif::Option::statusrate]);
  flush();
}

void Handle::Impl::drain() {
  while (failure && context.activity == Activity::active) {
    Result<uint64_t> count = poll_all();
    if (!count)
      failure = count.error();
    else if (*count == 0)
      return;
  }
}

Status Handle::stop() {
  Impl& impl = *impl_;
  if (impl.is_stopped || !impl.is_running) return impl.failure;
  impl.is_stopped = true;
  for (Instrument* instrument : impl.active) instrument->disable();
  impl.drain();
  impl.take_all();  // trunc(), clear() and printa() so far mean what was aggregated before END, whose records come last
  impl.context.cpus.open_reserve();
  impl.clean();
  impl.fire_own("END");
  impl.clean();
  impl.take_all();
  impl.consumer.print_rest();
  impl.tell_notes();
  impl.consumer.report_more_errors();
  impl.report_drops();
  impl.sum_up_drops();
  if (const uint64_t late = impl.host.late_values(); late > 0) impl.consumer.report_late_values(late);
  impl.consumer.print_exit(exit_status());
  impl.flush();
  return impl.failure;
}

Status Handle::status() const { return impl_->failure; }
int Handle::exit_status() const { return impl_->context.exit_status; }
uint64_t Handle::drops() const {
  if (!impl_->is_running) return 0;
  const Drops drops = impl_->drops();
  uint64_t all = 0;
  for (const DropInfo& kind : kDrops) all += drops.total(kind.id);
  return all;
}
uint64_t Handle::instrument_drops() const {
  uint64_t drops = 0;
  for (Instrument* instrument : impl_->active) {
    const CountsLosses* losses = instrument->abilities().losses;
    drops += instrument->drops() + (losses ? losses->missed_returns() : 0);
  }
  return drops;
}

}  // namespace dvm::runtime
