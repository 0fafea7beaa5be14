#pragma once
// Equations (7) and (8), a whole run, in clocks a second:
//
//   COST = sum over scripts of (6) + sum over probes of Freq * Cost(Probe)
//   Cost(total) = Cost_C + Cost_P; chew-and-print is user time, the rest system time
//
// And what can be seen of it: a workload that costs T and fires F times a second uses F * T of a CPU, traced F' * (T + C). So
// what tracing costs is the traced share less the untraced one at the traced rate.

#include "dvm/vm/profile.h"

namespace dvm::runtime {

// Freq * Cost(Probe), in clocks a second.
inline vm::Cost probe_cost(const vm::Cost& firing, double rate) { return firing.times(rate); }

// Of one CPU; 1 is all of it.
inline double share_of_cpu(double clocks_a_second, double clock_hz) { return clocks_a_second / clock_hz; }

// At which a firing of so many clocks costs this share of one CPU, in firings a second.
inline double rate_of_share(double clocks, double clock_hz, double share) { return clocks > 0 ? share * clock_hz / clocks : 0; }

// The share of a CPU that is tracing's.
inline double measured_share(double traced, double traced_rate, double untraced, double untraced_rate) {
  return traced - untraced * traced_rate / untraced_rate;
}

}  // namespace dvm::runtime
