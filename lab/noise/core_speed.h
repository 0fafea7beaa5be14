#pragma once
// How fast the core runs. A processor changes its clock with load and heat while the counter of cycles goes on evenly, so the
// same work takes more ticks at one moment than at another. Times that are held against each other are taken as at one speed, the
// one that the profile notes.

namespace dvm::lab::noise {

// Now: the steps of a chain of multiplications, three cycles each, that pass in a tick of the counter, times three. It takes some
// twenty microseconds.
double core_speed();

// The median over so many ns.
double core_speed_over(unsigned long ns);

// The speed at which this process, and those that it forks, give what they time in pieces (quiet_time.h): that of the profile
// which is made or tried. 0, as it is to begin with: the one that the core had.
void give_times_at(double core_speed);
double speed_of_times();

}  // namespace dvm::lab::noise
