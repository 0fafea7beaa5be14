// Waiting for firings, output at the rates, and the end. Tested by tests/unit/runtime/handle_test.cpp.

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/session/impl.h"

namespace dvm::runtime {
namespace {

// Adds the ticks of its scope to a stage of the account, when there is one.
class StageTimer {
 public:
  explicit StageTimer(vm::Tally* stage) : stage_(stage), begin_(stage ? __rdtsc() : 0) {}
  ~StageTimer() {
    if (stage_) stage_->count++, stage_->timed++, stage_->ticks += __rdtsc() - begin_;
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  vm::Tally* stage_;
  uint64_t begin_;
};

}  // namespace

void Handle::Impl::wait(Clock until) {
  Clock now = read_clock(CLOCK_MONOTONIC);
  for (Instrument* instrument : active) until = std::min(until, instrument->next_deadline());
  if (!active.empty()) until = std::min(until, now + idle_wait);
  idle_wait = std::min(idle_wait * 2, kIdleWait);
  if (until <= now) return;
  timespec time{static_cast<time_t>((until - now) / 1'000'000'000), static_cast<long>((until - now) % 1'000'000'000)};
  pollfd waker{wake, POLLIN, 0};
  ppoll(&waker, 1, &time, nullptr);
}

bool Handle::Impl::all_finished() const {
  return !active.empty() && std::all_of(active.begin(), active.end(), [](const Instrument* i) { return i->finished(); });
}

bool Handle::work() {
  Impl& impl = *impl_;
  if (!impl.is_running || impl.is_stopped) return false;
  Clock deadline = std::min({impl.switching.next(), impl.aggregating.next(), impl.reporting.next()});
  for (Clock now = 0; now < deadline; now = read_clock(CLOCK_MONOTONIC)) {
    if (impl.is_done()) return false;
    Result<uint64_t> count = impl.poll_all();
    if (!count) impl.failure = count.error();
    if (impl.is_done() || impl.all_finished()) return false;
    if (*count > 0) impl.idle_wait = kBusyWait;
    impl.wait(*count > 0 ? std::min(deadline, read_clock(CLOCK_MONOTONIC) + kBusyWait) : deadline);
  }
  impl.work_at_rates(read_clock(CLOCK_MONOTONIC));
  return !impl.is_done();
}

void Handle::interrupt() noexcept {
  impl_->interrupted.store(true, std::memory_order_relaxed);
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(impl_->wake, &one, sizeof(one));
}

void Handle::Impl::take_aggregations() {
  StageTimer timer(stage(Stage::snapshot_aggregations));
  consumer.take(session.aggregations);
}

void Handle::Impl::take_records() {
  std::span<const std::byte> records;
  {
    StageTimer timer(stage(Stage::snapshot_records));
    records = session.principal.switch_buffers();
  }
  StageTimer timer(stage(Stage::print));
  consumer.consume(records);
}

void Handle::Impl::report_drops() {
  Drops now{session.principal.drops(), session.aggregations.drops(), variables->drops(), session.errors_in_error};
  for (const Instrument* instrument : active) now.principal += instrument->drops();
  consumer.notice(drops_text(reported, now));
  reported = now;
}

void Handle::Impl::flush() {
  Status status = consumer.flush();
  if (!status && failure) failure = status;
}

// Aggregations first, so that the records' printa() sees all that fired before it.
void Handle::Impl::work_at_rates(Clock now) {
  if (aggregating.due(now)) take_aggregations(), aggregating.done(now, config.options[dif::Option::aggrate]);
  if (switching.due(now)) take_records(), switching.done(now, config.options[dif::Option::switchrate]);
  if (reporting.due(now)) report_drops(), reporting.done(now, config.options[dif::Option::statusrate]);
  flush();
}

void Handle::Impl::drain() {
  while (failure && session.activity == Activity::active) {
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
  impl.fire_own("END");
  impl.take_aggregations();
  impl.take_records();
  impl.consumer.print_rest();
  impl.report_drops();
  impl.flush();
  return impl.failure;
}

Status Handle::status() const { return impl_->failure; }
int Handle::exit_status() const { return impl_->session.exit_status; }
uint64_t Handle::instrument_drops() const {
  uint64_t drops = 0;
  for (const Instrument* instrument : impl_->active) drops += instrument->drops();
  return drops;
}

}  // namespace dvm::runtime
