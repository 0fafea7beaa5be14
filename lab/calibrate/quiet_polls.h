#pragma once
// CPU time of dvm's polls, as with an idle SMT sibling (poll_times.h). Polls in which the consumer read buffers are counted
// separately. Sleeps count only if the sibling was idle afterwards.

#include <cstdint>
#include <utility>
#include <vector>

#include "dvm/runtime/handle.h"
#include "dvm/vm/profile.h"
#include "lab/noise/poll_times.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab {

// Before anything is measured: gives times as at the profile's speed of the core, and on its CPU expects its quiet readings.
void measure_as(const vm::Profile& profile);

// What a run has done so far, and what its consumer took.
struct RunClock {
  double firings = 0, reads = 0, steps = 0;  // reads: of principal and aggregation buffers; steps: of the consumer, where counted
  double prints = 0;                         // reads of principal buffers, whose records were printed
  double consumer = 0, files = 0;            // ns, of reads and prints; of reading a recording and writing the output
};

RunClock read_run_clock(runtime::Handle& handle);
RunClock operator-(const RunClock& now, const RunClock& before);

class QuietPolls {
 public:
  // is_replay: the handle does not sleep between polls, which are alike but for the consumer's work.
  explicit QuietPolls(runtime::Handle& handle, bool is_replay = false);
  // One poll and the sleep after it; false: it was the last one.
  bool poll();

  double ns() const;           // of all polls and sleeps
  double quiet_share() const;  // share of polls with an idle sibling
  // Time of all polls, and the time spent on measuring them. speed() is the factor that scaled the former.
  double taken_ns() const { return taken_ns_; }
  double own_ns() const { return own_ns_; }
  double speed() const { return as_it_was_ > 0 ? taken_ns_ / as_it_was_ : 1; }
  double count() const { return static_cast<double>(polls_.size()); }

 private:
  void begin_part();
  std::pair<double, RunClock> end_part();  // ns of the thread's CPU time, less that of files, and what was done
  bool wait();

  runtime::Handle& handle_;
  const bool is_replay_;
  RunClock seen_;
  noise::QuietPiece piece_;
  double taken_ns_ = 0, as_it_was_ = 0;   // time of all polls, and the same not scaled
  uint64_t begun_at_ = 0, ended_at_ = 0;  // CPU time, of the last part
  double own_ns_ = 0;
  std::vector<noise::TimedPoll> polls_;
  noise::QuietTime sleeps_, short_sleeps_, reading_sleeps_;  // short: without sleep; reading: buffers were read then
};

}  // namespace dvm::lab
