#pragma once
// Equations (7) and (8), a whole run, in clocks a second:
//
//   COST = sum over scripts of (6) + sum over probes of Freq * Cost(Probe)
//   Cost(total) = Cost_C + Cost_P; of the consumer chew-and-print is user time, the rest system time
//
// dvm's probes take system time of the traced thread until its firing is delivered, and user time of dvm from there on; its
// consumer takes system time to be woken, and user time for all else. Where the VM is the kernel's (the paper's machine) probes
// of processes are seen as user time, all others as system time.
//
// And what can be seen of it: a workload that costs T and fires F times a second uses F * T of a CPU, traced F' * (T + C). So
// what tracing costs is the traced share less the untraced one at the traced rate.

#include "dvm/vm/profile.h"

namespace dvm::runtime {

struct Total {
  vm::Cost probes_user, probes_system, consumer_user, consumer_system;

  vm::Cost probes() const { return probes_user + probes_system; }
  vm::Cost consumer() const { return consumer_user + consumer_system; }
  vm::Cost user() const { return probes_user + consumer_user; }
  vm::Cost system() const { return probes_system + consumer_system; }
  vm::Cost all() const { return probes() + consumer(); }
};

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
