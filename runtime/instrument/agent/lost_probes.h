#pragma once
// Probes of agents whose jumps have gone with the mapping of their file: a process has executed another program, or closed a
// library. Where uprobes are permitted, these take over. Elsewhere they wait until the process has the file again.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/agent_target.h"
#include "runtime/instrument/agent/mapping_watch.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// A process that has executed another program has one more. The earlier one is kept for what it has left.
using AgentTargets = std::multimap<pid_t, std::unique_ptr<AgentTarget>>;

using ProbesByProcess = std::map<pid_t, std::vector<PlacedProbe>>;

// Null: the process has none, or that was in the program before.
AgentTarget* live_target(const AgentTargets& targets, pid_t pid);
// Nothing is on in programs that the process has left by executing another one.
void end_earlier(AgentTargets& targets, pid_t pid);
// Of records, that were read from all of them.
uint64_t copied_bytes(const AgentTargets& targets);
uint64_t lost_firings(const AgentTargets& targets);
// The one whose first record is the earliest, and that record. Null: none has a record.
AgentTarget* earliest_in(const AgentTargets& targets, LaneRecord& record);
// Takes all probes off, and tells what does not go as it should.
void take_off(AgentTargets& targets, std::vector<std::string>& notes);

class LostProbes {
 public:
  explicit LostProbes(bool by_uprobes) : by_uprobes_(by_uprobes) {}

  bool by_uprobes() const { return by_uprobes_; }
  // Tells of files that the process maps.
  void watch(pid_t pid) { mappings_.add(pid); }
  // Some milliseconds after the last find().
  bool is_due(uint64_t now) const { return now - looked_ >= 20'000'000; }
  // Looks for probes that were lost, which then wait for their files. now: in ns of CLOCK_MONOTONIC.
  void find(const AgentTargets& targets, uint64_t now);
  // They wait for their files.
  void wait(pid_t pid, std::vector<PlacedProbe> lost, uint64_t now);
  // Adds those whose files are mapped again. loads: processes that are known to have mapped files.
  void take_mapped(std::span<const LoadedIn> loads, uint64_t now, ProbesByProcess& mapped);
  // Processes that have mapped files since the last call.
  std::vector<LoadedIn> take_loads() { return has_loads_ |= !loads_.empty(), std::exchange(loads_, {}); }
  // Probes that come now are late: their files were mapped some milliseconds ago.
  bool are_late() const { return has_loads_ && !by_uprobes_; }
  // What processes have mapped since the last call. Until the next one they wait for their probes in the kernel, if uprobes
  // watch them. No agent can stop them there.
  void note(std::span<const LoadedIn> loads) { are_loading_ = !loads.empty(); }
  bool leaves_loads() const { return by_uprobes_ && are_loading_; }
  // True if a process that is no target executes a file in which a target has probes. Such a process was forked.
  static bool has_foreign(const AgentTargets& targets, std::span<const LoadedIn> loads);

 private:
  std::vector<PlacedProbe> take_mapped(pid_t pid);

  bool by_uprobes_;
  uint64_t looked_ = 0;
  MappingWatch mappings_;
  std::map<pid_t, std::vector<PlacedProbe>> waiting_;
  std::vector<LoadedIn> loads_;
  bool has_loads_ = false;
  bool are_loading_ = false;
};

}  // namespace dvm::runtime
