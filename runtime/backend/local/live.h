#pragma once
// The instruments for live processes, in the order in which they are asked. Kernel uprobes come first if BPF is permitted.
// Otherwise an agent comes first, then breakpoints for the probes that it refuses.

#include <memory>
#include <string>
#include <vector>

#include "dvm/dif/option.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

struct LiveInstrument {
  std::unique_ptr<Instrument> instrument;
  std::string aside;  // why the ones before it are asked first
};

// True if the options name the only instruments for processes, or the first one.
bool names_backend(const dif::Options& options);
// True if an agent is asked before all others.
bool chooses_agent(const dif::Options& options);

std::vector<LiveInstrument> make_live_instruments(const dif::Options& options);

}  // namespace dvm::runtime
