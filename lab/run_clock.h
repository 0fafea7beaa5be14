#pragma once
// What a run has done so far and what its consumer took for it, by its account: two such readings say what lies between them.

#include "dvm/runtime/handle.h"

namespace dvm::runtime {

struct RunClock {
  double firings = 0, reads = 0, steps = 0;  // reads: of principal and aggregation buffers; steps: of the consumer, where counted
  double prints = 0;                         // reads of principal buffers, whose records were printed
  double consumer = 0, files = 0;            // ns, of reads and prints; of reading a recording and writing the output
};

RunClock read_run_clock(Handle& handle);
RunClock operator-(const RunClock& now, const RunClock& before);

}  // namespace dvm::runtime
