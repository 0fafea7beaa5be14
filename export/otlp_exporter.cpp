// Tested by tests/runtime/scenarios/test_otlp.py.

#include "export/otlp_exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <random>
#include <utility>

#include "common/clock.h"

namespace dvm::exporting {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstWait = 1s, kLongestWait = 30s;
constexpr auto kEndTime = 5s;
constexpr auto kGather = 1s;         // records wait so long for others
constexpr long kLongestAsked = 300;  // seconds of Retry-After

bool is_temporary(long status) { return status == 0 || status == 429 || status == 502 || status == 503 || status == 504; }

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

uint64_t points_in(const runtime::Snapshot& snapshot) {
  uint64_t points = 0;
  for (const runtime::Metric& metric : snapshot.metrics) points += metric.points.size();
  return points;
}

std::string reason_of(const HttpAnswer& answer) {
  if (answer.status == 0) return answer.error;
  std::string text = answer.body.substr(0, 200);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, ' ');
  return fmt::format("status {}{}{}", answer.status, text.empty() ? "" : ": ", text);
}

}  // namespace

OtlpExporter::OtlpExporter(std::string url, const HttpSettings& http, OtlpResource origin, Tell tell)
    : url_(without_slash(std::move(url))),
      origin_(std::move(origin)),
      tell_(std::move(tell)),
      http_([this] { return is_over(); }, http) {}

OtlpExporter::~OtlpExporter() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true, end_ = Clock::now();
  }
  changed_.notify_all();
  thread_.join();
}

void OtlpExporter::start() {
  thread_ = std::thread([this] { run(); });
}

void OtlpExporter::publish(std::shared_ptr<const runtime::Snapshot> snapshot) {
  {
    const std::lock_guard lock(mutex_);
    snapshot_.swap(snapshot);
  }
  changed_.notify_one();
}

void OtlpExporter::read(LogRecord record) {
  const std::lock_guard lock(mutex_);
  const size_t bytes = record.bytes();
  if (queued_ + bytes > kMostQueued) return void(losses_.queue_full++);
  queued_ += bytes;
  records_.push_back(std::move(record));
  if (records_.size() == kMostBatch) changed_.notify_one();
}

OtlpLosses OtlpExporter::losses() const {
  const std::lock_guard lock(mutex_);
  return losses_;
}

OtlpLosses OtlpExporter::finish() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true, end_ = Clock::now() + kEndTime;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  losses_.unsent += records_.size();
  losses_.is_last_unsent = snapshot_ != nullptr;
  return losses_;
}

bool OtlpExporter::is_over() const {
  const std::lock_guard lock(mutex_);
  return is_ending_ && Clock::now() >= end_;
}

// Signals are the business of the thread that traces; TLS writes to sockets whose other end is closed.
void OtlpExporter::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (wait_for_work()) {
    if (send_snapshot()) send_records();
    if (is_over()) return;
  }
}

// False: all is sent, and no more comes.
bool OtlpExporter::wait_for_work() {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return is_ending_ || snapshot_ || records_.size() >= kMostBatch; };
  while (!changed_.wait_for(lock, kGather, has_work) && records_.empty()) continue;
  return snapshot_ || !records_.empty();
}

// At the end of the run it tries once more at once, unless the server asked for the pause.
void OtlpExporter::pause(Clock::duration time, bool is_asked_for) {
  std::unique_lock lock(mutex_);
  const Clock::time_point until = Clock::now() + time;
  const bool was_ending = is_ending_;
  while (Clock::now() < until && !(is_ending_ && (Clock::now() >= end_ || (!was_ending && !is_asked_for))))
    changed_.wait_until(lock, is_ending_ ? std::min(until, end_) : until);
}

// False: it is to be tried again.
bool OtlpExporter::send_snapshot() {
  std::shared_ptr<const runtime::Snapshot> snapshot;
  {
    const std::lock_guard lock(mutex_);
    snapshot.swap(snapshot_);
  }
  if (!snapshot) return true;
  Rejected rejected;
  const Outcome outcome = send("/v1/metrics", otlp_metrics(*snapshot, origin_), rejected);
  const std::lock_guard lock(mutex_);
  losses_.points += std::min(rejected.count, points_in(*snapshot));
  if (outcome == Outcome::lost) losses_.snapshots++;
  if (outcome == Outcome::again && !snapshot_) snapshot_ = std::move(snapshot);  // unless there is a newer one
  return outcome != Outcome::again;
}

bool OtlpExporter::send_records() {
  std::vector<LogRecord> batch;
  size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    for (; batch.size() < kMostBatch && !records_.empty(); records_.pop_front()) {
      bytes += records_.front().bytes();
      batch.push_back(std::move(records_.front()));
    }
  }
  if (batch.empty()) return true;
  Rejected rejected;
  const Outcome outcome = send("/v1/logs", otlp_logs(batch, read_clock(CLOCK_REALTIME), origin_), rejected);
  const std::lock_guard lock(mutex_);
  losses_.rejected += outcome == Outcome::lost ? batch.size() : std::min<uint64_t>(rejected.count, batch.size());
  if (outcome == Outcome::again)
    records_.insert(records_.begin(), std::make_move_iterator(batch.begin()), std::make_move_iterator(batch.end()));
  else
    queued_ -= bytes;  // until then they take room
  return outcome != Outcome::again;
}

OtlpExporter::Outcome OtlpExporter::send(const char* path, const std::string& body, Rejected& rejected) {
  const HttpAnswer answer = http_.post(url_ + path, body);
  const bool is_taken = answer.status >= 200 && answer.status < 300;
  if (!is_taken) return failed(reason_of(answer), is_temporary(answer.status), answer.retry_after);
  rejected = rejected_in(answer.body);
  if (rejected.count > 0 && !std::exchange(is_failing_, true))
    tell_(fmt::format("{}{} rejects a part of what is exported: {}", url_, path, rejected.reason));
  if (rejected.count == 0) is_failing_ = false;
  wait_ = {};
  return Outcome::sent;
}

// Says it once, until a request succeeds.
OtlpExporter::Outcome OtlpExporter::failed(const std::string& reason, bool may_try_again, long retry_after) {
  if (is_over()) return Outcome::again;  // interrupted
  if (!std::exchange(is_failing_, true)) tell_(fmt::format("cannot export to {}: {}", url_, reason));
  if (!may_try_again) return Outcome::lost;
  static thread_local std::minstd_rand random{std::random_device()()};
  const auto longest = std::clamp<Clock::duration>(2 * wait_, kFirstWait, kLongestWait);
  wait_ = longest;
  // Up to a fifth less, so that many exporters do not come back together.
  std::uniform_int_distribution<Clock::rep> any(longest.count() * 4 / 5, longest.count());
  if (retry_after > 0)
    pause(std::chrono::seconds(std::min(retry_after, kLongestAsked)), true);
  else
    pause(Clock::duration(any(random)), false);
  return Outcome::again;
}

std::string losses_text(const OtlpLosses& losses) {
  std::vector<std::string> parts;
  const auto add = [&](uint64_t count, const char* one, const char* many) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  };
  add(losses.queue_full, "record found no room in the queue", "records found no room in the queue");
  add(losses.rejected, "record was rejected", "records were rejected");
  add(losses.unsent, "record was not sent in time", "records were not sent in time");
  add(losses.points, "value of a metric was rejected", "values of metrics were rejected");
  add(losses.snapshots, "snapshot of metrics was rejected", "snapshots of metrics were rejected");
  if (losses.is_last_unsent) parts.push_back("the last metrics were not sent");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace dvm::exporting
