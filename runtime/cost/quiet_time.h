#pragma once
// What something takes on a core that is shared with nobody. It is done in pieces, and only those count before and behind which
// the core was the thread's own (core_share.h); where these are too few, all do.

#include <vector>

namespace dvm::runtime {

// Now, of the calling thread's core. For one thread of the process; the first time it takes some milliseconds.
bool core_is_quiet();

class QuietTime {
 public:
  // Begins a piece, right behind the one before it or later.
  void begin();
  // Ends it: so many ns for so many things. Pieces without things count for nothing.
  void end(double ns, double things);

  // ns of one thing. Pieces that took three times as long a thing as others were interrupted, and are left out.
  double each() const;
  // Of all things, those in quiet pieces: 0 to 1.
  double quiet_share() const;
  double quiet_things() const { return sum_of(quiet_).things; }

 private:
  struct Piece {
    double ns = 0, things = 0;
  };
  static Piece sum_of(const std::vector<Piece>& pieces);

  std::vector<Piece> quiet_, all_;
  bool was_quiet_ = false;
};

}  // namespace dvm::runtime
