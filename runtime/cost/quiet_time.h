#pragma once
// What something takes on a core that is shared with nobody. It is done in pieces, and only those count before and behind which
// the core was the thread's own (core_share.h); where these are too few, all do.

#include <vector>

#include "runtime/cost/calibrate/middle.h"

namespace dvm::runtime {

// Now, of the calling thread's core.
bool core_is_quiet();
// The same, once it is, or another one that the thread may move to; or a tenth of a second has passed, or the process and its
// children have waited so for two seconds and a fifth of its time. Threads that work for each other should not move: they could
// meet on one core.
bool core_gets_quiet(bool may_move = true);

class QuietTime {
 public:
  // Waits for the core to be quiet, and begins a piece.
  void begin();
  // Whether the piece that end() began starts so.
  bool starts_quietly() const { return was_quiet_; }
  // Ends it: so many ns for so many things; those without things count for nothing. Begins the next one, if that follows at once.
  // Returns whether it was quiet.
  bool end(double ns, double things);
  void add(double ns, double things, bool is_quiet);

  // ns of one thing. Pieces that took three times as long a thing as others were interrupted, and are left out.
  double each() const;
  // Of all things, those in quiet pieces: 0 to 1.
  double quiet_share() const;

 private:
  struct Piece {
    double ns = 0, things = 0;
  };
  static Piece sum_of(const std::vector<Piece>& pieces);

  std::vector<Piece> quiet_, all_;
  bool was_quiet_ = false;
};

// Of what a sample did, to call it quiet.
inline constexpr double kQuietEnough = 0.2;

struct QuietSample {
  double value = 0;
  bool is_quiet = false;  // the core was
};

// Samples of which so many quiet ones are wanted, and tried for some times.
class QuietSamples {
 public:
  explicit QuietSamples(unsigned wanted) : wanted_(wanted) {}
  bool wants_more() const;
  void add(const QuietSample& sample);
  // The quiet ones, or all if most were not.
  const std::vector<double>& values() const;
  Middle middle() const { return quiet_middle(values()); }
  bool is_quiet() const { return 2 * quiet_.size() >= wanted_; }

 private:
  unsigned wanted_;
  std::vector<double> quiet_, all_;
};

}  // namespace dvm::runtime
