#pragma once
// Time of all polls of a series, from those with an idle SMT sibling before and after. The cost of a poll has a fixed
// part and a part for each firing. The undisturbed polls give these costs, all polls the counts.

#include <vector>

namespace dvm::lab::noise {

struct TimedPoll {
  double ns = 0, firings = 0;
  bool is_quiet = false;
  double reads = 0, steps = 0;  // of buffers; steps of the consumer
  double consumer = 0;          // ns that both took
};

double count_quiet(const std::vector<TimedPoll>& polls);

// Time of all polls; those that read buffers are a kind of their own. What took three times as long as its kind is left out.
double time_of(std::vector<TimedPoll> polls);

// The same of a replay, which never sleeps, by the quickest firings and consumer steps (reads, if nothing was printed).
double time_of_replay(const std::vector<TimedPoll>& polls);

}  // namespace dvm::lab::noise
