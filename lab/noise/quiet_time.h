#pragma once
// What something takes on a core that is shared with nobody and runs at one speed (core_speed.h). It is done in pieces, and
// before and behind each the thread looks at its core (core_share.h): by its speed the time of the piece is made one at the speed
// of all times, and only those pieces count for which the core was the thread's own. Where these are too few, all do.

#include <vector>

#include "lab/noise/core_share.h"
#include "lab/noise/middle.h"

namespace dvm::lab::noise {

// The calling thread's.
dvm_gauge& own_gauge();
// What a quiet core reads where it is asked whether it is one (core_share.h), in cycles; 0: not known.
struct QuietReadings {
  double near = 0, far = 0;
};
// Readings that are known already, so that nothing need be learnt from a core that a neighbour may be using. To be called before
// the first look.
void expect_readings(const QuietReadings& known);
// The lowest readings that the calling thread has found; at first the expected ones.
QuietReadings quiet_core();
// Its core now.
dvm_core look_at_core();
// The same, once it is quiet, or another one that the thread may move to; or 20 ms have passed, or the process and its
// children have waited so for a second and half of its time. Threads that work for each other should not move: they
// could meet on one core.
dvm_core wait_for_quiet_core(bool may_move = true);

struct QuietSample {
  double value = 0;
  bool is_quiet = false;  // the core was
};

// A piece of work, from where it is made.
class QuietPiece {
 public:
  QuietPiece() : before_(look_at_core()) {}
  explicit QuietPiece(dvm_core before) : before_(before) {}
  bool starts_quietly() const { return before_.is_quiet != 0; }
  // What it took as at the speed of all times, in the unit of what it took. Begins the next one, if that follows at once.
  QuietSample end(double taken);
  // The same of one in which the thread slept: who was on the core before says nothing.
  QuietSample end_of_rest(double taken);

 private:
  dvm_core before_;
};

class QuietTime {
 public:
  // Waits for the core to be quiet, or another one that the thread may move to, and begins a piece.
  void begin(bool may_move = false);
  // Begins one on whatever core it is.
  void begin_at_once() { piece_ = QuietPiece(); }
  // Whether the piece that end() began starts so.
  bool starts_quietly() const { return piece_.starts_quietly(); }
  // Ends it: so many ns for so many things; those without things count for nothing. Begins the next one, if that follows at once.
  // Returns what it took.
  QuietSample end(double ns, double things);
  void add(const QuietSample& ns, double things);  // a piece

  // ns of one thing, of pieces that do one thing or another, or many at once: the mean. Pieces that took three times as long a
  // thing as others were interrupted, and are left out. Where too little was quiet, all counts.
  double each() const;
  // The same, of pieces that do all the same: the middle one, since a stranger who came and went within a piece makes it longer.
  // Where too few were quiet, that of the quickest fifth.
  double usual() const;
  // Of all things, those in quiet pieces: 0 to 1.
  double quiet_share() const;
  double things() const;  // of all pieces
  // What each piece took for one thing.
  const std::vector<QuietSample>& pieces() const { return pieces_; }

 private:
  std::vector<QuietSample> pieces_;
  std::vector<double> things_;
  QuietPiece piece_{dvm_core{}};
};

// Of what a sample did, to call it quiet.
inline constexpr double kQuietEnough = 0.05;
// Times as long as others that were quiet before and behind: somebody came and went meanwhile, which makes it 1.5 to 1.9.
inline constexpr double kDisturbed = 1.4;
// Of what was timed, by how much it may be too long where that was not so.
inline constexpr double kTooLong = 0.1;

inline constexpr unsigned kUsualTries = 2;

// Samples of which so many quiet ones are wanted, and tried for some times. A sample may have pieces, which then count one by
// one.
class QuietSamples {
 public:
  explicit QuietSamples(unsigned wanted, unsigned tries = kUsualTries) : wanted_(wanted), tries_(tries) {}
  bool wants_more() const;
  void add(const QuietSample& sample);
  void add(const QuietTime& sample);
  // Of many the middle of the quickest: of a fifth of all, or of as many as half of the quiet ones, if these are fewer. Of few
  // that of the quicker half of the quiet ones, or of all. Where too few were quiet it may be a tenth too much, as its deviation
  // says.
  Middle middle() const;
  // Of what is not only longer where it is disturbed, but another time each time, such as waking up: of the quiet ones, or of
  // all.
  Middle plain_middle() const;
  bool is_quiet() const;
  bool is_empty() const { return all_.empty(); }

 private:
  void keep(const QuietSample& value);

  unsigned wanted_, tries_, samples_ = 0;
  bool has_pieces_ = false;
  std::vector<double> quiet_, all_;
};

}  // namespace dvm::lab::noise
