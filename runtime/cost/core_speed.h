#pragma once
// How fast the core runs. A processor changes its clock with load and heat while the counter of cycles goes on evenly, so the
// same work takes more ticks at one moment than at another. Times that are held against each other are taken as at one speed, the
// one that the profile notes.

namespace dvm::runtime {

// Now: the steps of a chain of multiplications, three cycles each, that pass in a tick of the counter, times three. It takes some
// twenty microseconds.
double core_speed();

// The median over so many ns.
double core_speed_over(unsigned long ns);

// Of what is timed since it was made.
class SpeedSpan {
 public:
  double mean() const { return (begin_ + core_speed()) / 2; }
  // What makes the time one at another speed; 0: the time as it is.
  double factor(double at) const { return at > 0 ? mean() / at : 1; }

 private:
  double begin_ = core_speed();
};

}  // namespace dvm::runtime
