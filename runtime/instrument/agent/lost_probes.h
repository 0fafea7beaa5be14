#pragma once
// Probes of agents whose jumps have disappeared with the mapping of their file, because a process has executed another program or
// closed a library. If uprobes are permitted, they take over. Otherwise the probes wait until the process maps the file again.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/agent_target.h"
#include "runtime/instrument/agent/mapping_watch.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// The agents by process. After an exec, a process has a further one; the earlier one is kept for its remaining data.
using AgentTargets = std::multimap<pid_t, std::unique_ptr<AgentTarget>>;

using ProbesByProcess = std::map<pid_t, std::vector<PlacedProbe>>;

// The agent in the current program of a process. Null: there is none.
AgentTarget* live_target(const AgentTargets& targets, pid_t pid);
// Processes of the probes that have none.
std::set<pid_t> without_agent(const AgentTargets& targets, std::span<const EnabledProbe> probes);
// Bytes of records that were read from all targets.
uint64_t copied_bytes(const AgentTargets& targets);
uint64_t lost_firings(const AgentTargets& targets);
// Those whose memory clauses no longer read by plain loads, and why.
std::vector<std::string> unsteady_texts(const AgentTargets& targets);
// The target with the earliest record, that record, and the ticks of the earliest record of another target; if none has one,
// UINT64_MAX. Null: none has a record.
AgentTarget* earliest_in(const AgentTargets& targets, LaneRecord& record, uint64_t& others);
// Takes all probes off. Adds a note for each failure. The run has ended: what is lost from now on is not counted.
void take_off(AgentTargets& targets, std::vector<std::string>& notes);

class LostProbes {
 public:
  explicit LostProbes(bool by_uprobes) : by_uprobes_(by_uprobes) {}

  bool by_uprobes() const { return by_uprobes_; }
  // Watches which files the process maps.
  void watch(pid_t pid) { mappings_.add(pid); }
  // True some milliseconds after the last find().
  bool is_due(uint64_t now) const { return now - looked_ >= 20'000'000; }
  // Looks for probes that were lost, which then wait for their files. now: in ns of CLOCK_MONOTONIC.
  void find(const AgentTargets& targets, uint64_t now);
  // Lets probes wait for their files.
  void wait(pid_t pid, std::vector<PlacedProbe> lost, uint64_t now);
  // Lets the refused ones among probes wait for another attempt. Adds those that have had enough to lost. placed: an error
  // refuses all of them.
  void wait_or_lose(pid_t pid, std::vector<PlacedProbe>& probes, std::span<const Refused> refused, const Status& placed,
                    std::vector<LostProbe>& lost);
  // Adds those whose files are mapped again. loads: processes that are known to have mapped files.
  void take_mapped(std::span<const LoadedIn> loads, uint64_t now, ProbesByProcess& mapped);
  // Processes that have mapped files since the last call.
  std::vector<LoadedIn> take_loads() { return has_loads_ |= !loads_.empty(), std::exchange(loads_, {}); }
  // True if new probes are late, because their files were mapped some milliseconds ago.
  bool are_late() const { return has_loads_ && !by_uprobes_; }
  // Notes processes that have mapped files since the last call. If uprobes watch them, they wait in the kernel until the next
  // call, and no agent can stop them there.
  void note(std::span<const LoadedIn> loads) { are_loading_ = !loads.empty(); }
  bool leaves_loads() const { return by_uprobes_ && are_loading_; }
  // True if a process without an agent has mapped a file in which a target has probes. Such a process was forked.
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
