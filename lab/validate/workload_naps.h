#pragma once
/* How the threads of the job "paced" sleep, for C and C++: after so many calls, but no less and no more than for so long. */

/* ns, for a few calls at so many a second. */
static inline double paced_mean_nap(double rate) {
  const double calls = 25, shortest = 20e3, longest = 200e3;
  const double mean = calls * 1e9 / rate;
  return mean < shortest ? shortest : mean > longest ? longest : mean;
}
