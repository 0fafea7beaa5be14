#pragma once
// Processes that execute other programs, or map files, which are held until their probes have been placed (exec_hold.h,
// load_holds.h).

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/instrument/abilities.h"
#include "runtime/instrument/agent/exec_hold.h"
#include "runtime/instrument/agent/load_holds.h"
#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

// How often probes of a process have come late; the first time is noted.
struct Lateness {
  std::map<pid_t, unsigned>& times;
  std::vector<std::string>& notes;
};

class ExecHolds {
 public:
  // Processes wait from now on if they map files. An error says why that of the linker does not.
  Status watch(const AgentTargets& targets, const LinkerSite& linker) { return loads_.watch(targets, linker); }
  // Adds to these loads the processes that stand at the beginning of another program, or have mapped files, since the last call.
  // by_memory: notices those that do not tell of it as well, because no uprobes follow them.
  std::vector<LoadedIn> take(const AgentTargets& targets, std::vector<LoadedIn> loads, Lateness late, bool by_memory);
  // True if the process is held: probes that are placed in it are on before its program runs.
  bool has(pid_t pid) const { return held_.contains(pid) || loads_.has(pid); }
  // Those that are held, or have mapped other files, since the last call of take().
  const std::set<pid_t>& executed() const { return executed_; }
  // Those that have executed a program without being held, since the last call of take().
  const std::vector<pid_t>& missed() const { return missed_; }
  // They run on. One that did so before, because dvm was stopped or slow, is noted.
  void settle(const AgentTargets& targets, Lateness late);
  // Notes what the targets know of what was missed. Call before they go.
  void note_late(const AgentTargets& targets) { loads_.note_late(targets); }
  // Adds notes on what was missed since the last call.
  void take_notes(const AgentTargets& targets, std::vector<std::string>& notes);

 private:
  static HeldExec look_at(pid_t pid, AgentTarget& target, bool by_memory);
  void miss(pid_t pid, bool runs, Lateness late);

  // Programs of a process that were not held: those that were seen, and whether it has ended unseen in or before one.
  struct Missed {
    unsigned programs = 0;
    bool has_ended = false;
  };
  std::map<pid_t, Missed> all_missed_;
  std::map<pid_t, RemoteHold> held_;
  LoadHolds loads_;
  std::set<pid_t> executed_;
  std::vector<pid_t> missed_;
  bool by_memory_ = false;  // in the last call of take()
};

}  // namespace dvm::runtime
