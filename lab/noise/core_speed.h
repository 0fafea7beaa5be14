#pragma once
// The speed of the core. A processor changes its clock with load and heat while the cycle counter runs evenly, so the same work
// takes a varying number of ticks. Times that are compared are scaled to one speed, which the profile notes.

namespace dvm::lab::noise {

// The current speed: core cycles in a tick of the counter, by a chain of multiplications of three cycles each. Takes 20 us.
double core_speed();

// The median over so many ns.
double core_speed_over(unsigned long ns);

// The speed that this process and its children scale times to (quiet_time.h). 0, the default: times are not scaled.
void give_times_at(double core_speed);
double speed_of_times();

}  // namespace dvm::lab::noise
