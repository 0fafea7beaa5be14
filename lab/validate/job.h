#pragma once
// The orders that the workload (workload.cpp) reads, and the answers that it writes, as they are in memory.

#include <algorithm>
#include <string_view>

namespace dvm::lab {

struct JobName {
  JobName(const char* name = "") : JobName(std::string_view(name)) {}
  JobName(std::string_view name) { name.copy(text, sizeof text - 1); }
  char text[32] = {};
};

struct Job {
  JobName name;
  long rounds = 0;                 // of interrupted: ns
  long burst = 0, period = 0;      // after so many of them it sleeps until so many ns after their beginning; 0: it does not
  unsigned threads = 1, keys = 1;  // of paced: rounds are calls a second of each thread, the period the ms that it takes
};

// Ns that a thread of "paced" sleeps after a few calls at so many a second, on the average.
inline double paced_mean_nap(double rate) {
  constexpr double kCalls = 25, kShortest = 20e3, kLongest = 200e3;
  return std::clamp(kCalls * 1e9 / rate, kShortest, kLongest);
}

// Times of a job, in ns. cpu: with an idle SMT sibling; of interrupted: of an interrupt.
struct JobTimes {
  double cpu = 0, wall = 0;
  double calls = 0;     // that were made
  double quiet = 1;     // share of the rounds with an idle sibling
  double slowdown = 1;  // time of all rounds relative to cpu
};

}  // namespace dvm::lab
