// Waiting for firings, polling, and output at the rates. Tested by tests/unit/runtime/handle_test.cpp.

#include <poll.h>

#include <algorithm>
#include <vector>

#include "common/clock.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/session/impl.h"

namespace dvm::runtime {

// After Ctrl-C, for firings that dvm has not handled yet. An agent of busy threads leaves up to some millions.
static constexpr MonotonicTime kLongestDrain = 3'000'000'000;

bool Handle::Impl::has_ended() const {
  return !failure || std::any_of(backends.begin(), backends.end(), [](const auto& one) { return one->end_status().has_value(); });
}

bool Handle::Impl::are_finished() const {
  return std::all_of(backends.begin(), backends.end(), [](const auto& one) { return one->is_finished(); });
}

void Handle::Impl::fail(const Status& status) {
  if (failure && !status) failure = status;
}

// Buffers are emptied before a poll and wherever one ends early, so nothing is dropped that consumer context has room for.
Polled Handle::Impl::poll_one(Backend& backend) {
  Polled all;
  for (bool goes_on = true; goes_on;) {
    fail(collector.make_room(backend));
    const Result<Polled> polled = backend.poll();
    if (!polled) return fail(polled.error()), all;
    all.firings += polled->firings, all.backlog += polled->backlog, all.is_urgent |= polled->is_urgent;
    goes_on = polled->is_partial && !has_ended() && (is_stopped || !wake.is_interrupted());  // drain() takes the rest
    translations.take_up();
    if (const std::string problem = translations.take_problem(); !problem.empty()) tell_interpreted(problem);
    if (goes_on) late.take_up_changes();
    if (is_stopped) limit_drain();
  }
  return all;
}

void Handle::Impl::fire_overdue() {
  const MonotonicTime now = read_clock(CLOCK_MONOTONIC);
  for (const auto& backend : backends) fail(backend->fire_overdue(now));
  release_stragglers();
}

uint64_t Handle::Impl::poll_backends() {
  Polled all;
  pacer.begin_poll();
  for (const auto& backend : backends) {
    const Polled polled = poll_one(*backend);
    all.firings += polled.firings, all.backlog += polled.backlog, all.is_urgent |= polled.is_urgent;
  }
  pacer.end_poll(all.backlog, all.is_urgent);
  return all.firings;
}

// Handles what has fired. False: it was the last. What the targets have done before they ended is handled after that is known.
bool Handle::Impl::poll() {
  if (is_done()) return false;
  const bool are_targets_gone = wake.are_targets_gone();
  poll_backends();
  late.take_up_changes();
  late.match_loads();
  if (are_targets_gone && !late.has_descendants()) return false;
  return !is_done() && !are_finished();
}

void Handle::Impl::wait(MonotonicTime until) {
  const MonotonicTime now = read_clock(CLOCK_MONOTONIC);
  std::vector<int> descriptors{wake.descriptor()};
  bool has_firings = false;
  for (const auto& backend : backends) {
    until = backend->next_poll(until, descriptors);
    has_firings |= backend->is_on();
  }
  if (has_firings) until = std::min(until, now + pacer.wait());
  if (until <= now) return;
  std::vector<pollfd> wakers;
  for (const int descriptor : descriptors) wakers.push_back({descriptor, POLLIN, 0});
  const timespec time{static_cast<time_t>((until - now) / 1'000'000'000), static_cast<long>((until - now) % 1'000'000'000)};
  ppoll(wakers.data(), wakers.size(), &time, nullptr);
}

// The last poll comes after the deadline: a tick with the period of a rate, whose time came just before, is printed at once.
bool Handle::work() {
  Impl& impl = *impl_;
  if (!impl.is_running || impl.is_stopped) return false;
  const MonotonicTime deadline = impl.next_rate();
  do {
    if (!impl.is_done()) impl.wait(deadline);
    if (!impl.poll()) return false;
  } while (read_clock(CLOCK_MONOTONIC) < deadline);
  impl.work_at_rates(read_clock(CLOCK_MONOTONIC));
  return !impl.is_done();
}

bool Handle::poll() {
  Impl& impl = *impl_;
  return impl.is_running && !impl.is_stopped && impl.poll();
}

bool Handle::wait() {
  Impl& impl = *impl_;
  impl.wait(impl.next_rate());
  if (const MonotonicTime now = read_clock(CLOCK_MONOTONIC); now >= impl.next_rate()) impl.work_at_rates(now);
  return !impl.is_done();
}

void Handle::interrupt() noexcept { impl_->wake.interrupt(); }
void Handle::targets_gone() noexcept { impl_->wake.targets_gone(); }

// In the order of Collector::take_all(). Buffers of policies other than switch are read at the end.
void Handle::Impl::work_at_rates(MonotonicTime now) {
  const dif::Options& options = config.options;
  if (aggregating.due(now)) {
    collector.take_aggregations();
    exports.publish();
    aggregating.done(now, options[dif::Option::aggrate]);
  }
  for (const auto& backend : backends) backend->work_at_rate(now);
  const bool is_switched = static_cast<BufferPolicy>(options[dif::Option::bufpolicy]) == BufferPolicy::switch_;
  if (switching.due(now)) collector.take_due(is_switched), switching.done(now, options[dif::Option::switchrate]);
  if (reporting.due(now)) drop_reports.report(drops()), reporting.done(now, options[dif::Option::statusrate]);
  fail(collector.flush());
}

// What has arrived before the probes were taken off.
void Handle::Impl::drain() {
  drain_ends = read_clock(CLOCK_MONOTONIC) + kLongestDrain;
  while (!has_ended() && poll_backends() > 0) continue;
  if (drops_rest) consumer.notice("firings that dvm had not handled 3 s after the interrupt were dropped");
}

// The rest is still read, so that it can be counted.
void Handle::Impl::limit_drain() {
  if (drops_rest || !wake.is_interrupted() || read_clock(CLOCK_MONOTONIC) < drain_ends) return;
  drops_rest = true;
  local.drop_rest();
}

}  // namespace dvm::runtime
