#pragma once
// What all looks of a series took, from those before and behind which the core was quiet. A look takes something by itself and
// something for each thing that it finds: the quiet ones say what both are, and all of them how often.

#include <vector>

namespace dvm::lab::noise {

struct Look {
  double ns = 0, firings = 0;
  bool is_quiet = false;
  double reads = 0, steps = 0;  // of buffers; of the consumer
  double consumer = 0;          // ns that both took
};

// Of looks of a kind, all together. Those that took three times as long as they should were interrupted, and are left out.
double time_of(std::vector<Look> looks);

// Of looks that handle firings of a recording, one after the other without a rest: what most of the quickest took for a firing,
// and what the consumer took for a step, or for a read where it did no more (QuietSamples), for all of them.
double time_of_replay(const std::vector<Look>& looks);

}  // namespace dvm::lab::noise
