#pragma once
// CPU time of dvm's polls for firings, as if no neighbour used its core. A poll costs something by itself and something for each
// firing. The polls with an idle SMT sibling before and after give both costs, and all polls give the counts. Polls in which the
// consumer read buffers are a kind of their own. Sleeping between polls is counted separately, by the sleeps after which the
// sibling was idle: a neighbour before the sleep has had time to leave. If too few polls of a kind had an idle sibling, all of
// that kind count. All times are scaled to one speed of the core (core_speed.h).

#include <cstdint>
#include <vector>

#include "dvm/runtime/handle.h"
#include "lab/noise/look_times.h"
#include "lab/noise/quiet_time.h"
#include "lab/run_clock.h"

namespace dvm::runtime {

class QuietLooks {
 public:
  // Begins with the next look. is_replay: between looks the handle does not sleep, and they are alike but for what the consumer
  // does.
  explicit QuietLooks(Handle& handle, bool is_replay = false);
  // Has the handle look and rest; false: it is the last one.
  bool look();

  double ns() const;           // of all of them, and the rests
  double quiet_share() const;  // of looks
  // What the looks took, quiet or not, and what it took to find that out. As it was: what makes the first one at the speed of
  // times.
  double taken_ns() const;
  double own_ns() const { return own_ns_; }
  double speed() const { return as_it_was_ > 0 ? taken_ns() / as_it_was_ : 1; }
  double count() const { return static_cast<double>(looks_.size()); }

 private:
  struct Part {
    double ns = 0;  // of the thread's CPU time, less that of files
    RunClock done;
  };
  void begin_part();
  Part end_part();
  bool rest();

  Handle& handle_;
  const bool is_replay_;
  RunClock seen_;
  noise::QuietPiece piece_;
  double as_it_was_ = 0;                  // what all looks took
  uint64_t begun_at_ = 0, ended_at_ = 0;  // CPU time, of the last part
  double own_ns_ = 0;
  std::vector<noise::Look> looks_;
  noise::QuietTime rests_, short_rests_, reading_rests_;  // short: no sleep; those behind which buffers were read
};

}  // namespace dvm::runtime
