#pragma once
// The jumps of an agent in a process, by the signals that faults of the instructions under them raise. If the process begins to
// handle such a signal, the jumps are taken off, so that the handler sees the true addresses of the instructions.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/code/raised_signals.h"
#include "runtime/instrument/agent/placed_probes.h"

namespace dvm::runtime {

class FaultSites {
 public:
  // It was placed.
  void add(const AgentSite& site);
  // Signals that one of the sites raises. There may be tens of thousands of sites, and each poll asks.
  SignalSet raised() const { return raised_; }
  // Addresses, sorted, of those that raise such signals, and of all that have a function or a probe in common with one of these.
  std::vector<uint64_t> with(SignalSet signals, const PlacedProbes& placed) const;
  // The same of some addresses.
  std::vector<uint64_t> with(std::span<const uint64_t> addresses, const PlacedProbes& placed) const;
  void forget(std::span<const uint64_t> addresses);
  std::vector<uint64_t> addresses() const;  // sorted

 private:
  struct Raising {
    uint64_t function = 0;
    SignalSet raises = 0;
  };
  std::map<uint64_t, Raising> sites_;
  SignalSet raised_ = 0;
};

}  // namespace dvm::runtime
