#pragma once
// Measures times as on a core with an idle SMT sibling, at one speed. Work is done in pieces, with a reading of the core before
// and after each (core_share.h). The speed scales the time of the piece, because a processor changes its clock with load and heat
// while the cycle counter runs evenly. Only pieces with an idle sibling at both ends count, unless they are too few.

#include <algorithm>
#include <vector>

#include "lab/noise/core_share.h"
#include "lab/noise/middle.h"

namespace dvm::lab::noise {

// Core cycles in a tick of the counter, by chains of multiplications of three cycles each: the median over so many ns.
double core_speed_over(unsigned long ns);

// The speed that this process and its children scale times to. 0, the default: times are not scaled.
void give_times_at(double core_speed);
double speed_of_times();

// Cycles of the two chains of core_share.h with an idle sibling; 0: not known.
struct QuietReadings {
  double near = 0, far = 0;
};
// Sets known readings, before the first one: they need not be found on a core whose neighbour may be busy.
void expect_readings(const QuietReadings& known);
// The lowest readings of the calling thread; at first the expected ones.
QuietReadings quiet_core();
CoreState core_state();
// Waits until the core, or another one if the thread may move, is quiet: for 20 ms at most, and with its children no more than a
// second and half of the process's time. Threads that work for each other should not move: they could meet on one core.
CoreState wait_for_quiet_core(bool may_move = true);

struct QuietSample {
  double value = 0;
  bool is_quiet = false;  // the core was
};

// A piece of work, which begins when the object is made.
class QuietPiece {
 public:
  QuietPiece() : before_(core_state()) {}
  explicit QuietPiece(CoreState before) : before_(before) {}
  bool starts_quietly() const { return before_.is_quiet; }
  // Ends it: the time it took, scaled. Begins the next one, if that follows at once.
  QuietSample end(double taken);
  // The same for a piece in which the thread slept: the core before the sleep does not count.
  QuietSample end_of_sleep(double taken);

 private:
  CoreState before_;
};

class QuietTime {
 public:
  // Waits for a quiet core and begins a piece.
  void begin(bool may_move = false);
  void begin_at_once() { piece_ = QuietPiece(); }  // without waiting
  bool starts_quietly() const { return piece_.starts_quietly(); }
  // Ends it, with the ns it took for so many things; a piece without things does not count. Begins the next one.
  QuietSample end(double ns, double things);
  void add(const QuietSample& ns, double things);  // a piece

  // ns of one thing, if pieces differ: the mean of quiet pieces, or of all if too few were quiet. Pieces that took three times as
  // long as others were interrupted and are left out.
  double each() const;
  // The same, if pieces are alike: the median of the quiet ones (a neighbour may come and go in one), or of the quickest fifth.
  double usual() const;
  double quiet_share() const;   // of the things, 0 to 1
  double things() const;        // of all pieces
  struct Piece : QuietSample {  // ns of one thing
    double things;
  };
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<double> values(bool only_quiet) const;  // of pieces

  std::vector<Piece> pieces_;
  QuietPiece piece_{CoreState{}};
};

inline constexpr double kQuietEnough = 0.05;  // quiet share that makes a sample quiet
inline constexpr double kDisturbed = 1.4;     // times as long as others; a neighbour that comes and goes makes a piece 1.5 to 1.9
inline constexpr double kTooLong = 0.1;       // share by which a time may be too long if the core was not quiet
inline constexpr unsigned kUsualTries = 2;

// Samples, of which so many quiet ones are wanted; at most `tries` times as many are taken. Pieces of a sample count one by one.
class QuietSamples {
 public:
  explicit QuietSamples(unsigned wanted, unsigned tries = kUsualTries) : wanted_(wanted), tries_(tries) {}
  bool wants_more() const;
  void add(const QuietSample& sample);
  void add(const QuietTime& sample);
  // The median of the quickest samples. Of many: a fifth of all, or half as many as were quiet if that is less. If they are few,
  // the quicker half of the quiet ones, or of all. If too few were quiet it may be a tenth too long, and its distance says so.
  Middle middle() const;
  // For times that vary anyway, such as waking up: the median of the quiet samples, or of all.
  Middle plain_middle() const;
  bool is_quiet() const;
  bool is_empty() const { return all_.empty(); }

 private:
  void keep(const QuietSample& value);

  unsigned wanted_, tries_, samples_ = 0;
  bool has_pieces_ = false;
  std::vector<double> quiet_, all_;
};

// Takes samples until `wanted` were quiet enough, or three times as many; returns the quietest. Sample::quiet is a share, 0 to 1.
template <class Sample, class Take>
std::vector<Sample> quietest(size_t wanted, const Take& take) {
  constexpr size_t kMostTimes = 3;
  constexpr double kQuiet = 0.2;
  std::vector<Sample> samples;
  for (size_t quiet = 0; quiet < wanted && samples.size() < kMostTimes * wanted;) {
    samples.push_back(take());
    quiet += samples.back().quiet >= kQuiet ? 1 : 0;
  }
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.quiet > b.quiet; });
  samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, samples.size())), samples.end());
  return samples;
}

}  // namespace dvm::lab::noise
