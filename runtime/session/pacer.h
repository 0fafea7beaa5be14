#pragma once
// Decides how long a session waits before it polls again, by the backlog of the last poll (runtime/instrument/pace.h).

#include <utility>

#include "common/clock.h"
#include "runtime/backend/backend.h"
#include "runtime/backend/rate.h"
#include "runtime/instrument/pace.h"

namespace dvm::runtime {

class Pacer {
 public:
  // Some clause has effects that must not be late.
  void hurry() { is_hurried_ = true; }
  void begin_poll() {
    const MonotonicTime now = read_clock(CLOCK_MONOTONIC);
    since_last_ = now - std::exchange(polled_at_, now);
  }
  void end_poll(double backlog, bool is_urgent) {
    const double longest = is_hurried_ || is_urgent ? kShortestWait : kLongestWait;
    wait_ = wait_after(backlog, static_cast<double>(since_last_), wait_, longest);
  }
  MonotonicTime wait() const { return static_cast<MonotonicTime>(wait_); }

 private:
  bool is_hurried_ = false;
  MonotonicTime polled_at_ = 0, since_last_ = 0;
  double wait_ = kShortestWait;  // ns
};

}  // namespace dvm::runtime
