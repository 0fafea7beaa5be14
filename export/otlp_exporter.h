#pragma once
// Sends snapshots and records to a collector by OTLP over HTTP, in a thread of its own. The caller never waits:
//
//   publish() ── replaces the snapshot that has not been sent; its totals are in the next one
//   read()    ── appends to a queue of kMostQueued bytes; a record that finds no room is lost, and counted
//
// An answer that asks for another try (429, 502, 503, 504, none) gets one, after the time that it names or a back-off that
// doubles up to kLongestWait. Any other failure loses what was sent. At the end, kEndTime remains to send the rest.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dvm/common/result.h"
#include "export/http_post.h"
#include "export/otlp_json.h"

namespace dvm::exporting {

inline constexpr size_t kMostQueued = 8 << 20;  // bytes of records
inline constexpr size_t kMostBatch = 512;       // records of a request

struct OtlpLosses {
  uint64_t queue_full = 0, rejected = 0, unsent = 0;  // records
  uint64_t points = 0;                                // that were rejected
  uint64_t snapshots = 0;                             // rejected as a whole
  bool is_last_unsent = false;                        // the snapshot of the end
  uint64_t records() const { return queue_full + rejected + unsent; }
  bool any() const { return records() + points + snapshots > 0 || is_last_unsent; }
};

class OtlpExporter {
 public:
  using Tell = std::function<void(const std::string&)>;

  // tell: shows a message; called from the exporter's thread.
  OtlpExporter(std::string url, const HttpSettings& http, OtlpResource origin, Tell tell);
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  void start();
  void publish(std::shared_ptr<const runtime::Snapshot> snapshot);
  void read(LogRecord record);
  // What has been lost so far.
  OtlpLosses losses() const;
  // Sends what is left and ends the thread.
  OtlpLosses finish();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Outcome { sent, again, lost };

  void run();
  bool wait_for_work();
  bool send_snapshot();
  bool send_records();
  Outcome send(const char* path, const std::string& body, Rejected& rejected);
  Outcome failed(const std::string& reason, bool may_try_again, long retry_after);
  void pause(Clock::duration time, bool is_asked_for);
  bool is_over() const;

  const std::string url_;
  const OtlpResource origin_;
  const Tell tell_;
  HttpPost http_;
  std::thread thread_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::shared_ptr<const runtime::Snapshot> snapshot_;  // not sent yet
  std::deque<LogRecord> records_;
  size_t queued_ = 0;  // bytes of records_
  OtlpLosses losses_;
  bool is_ending_ = false;
  Clock::time_point end_;  // if it is ending

  // Used by the thread alone.
  Clock::duration wait_{};  // delay after the next failure
  bool is_failing_ = false;
};

// One line that says what was lost and why; empty: nothing was.
std::string losses_text(const OtlpLosses& losses);

}  // namespace dvm::exporting
