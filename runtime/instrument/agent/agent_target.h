#pragma once
// A process with an agent, and the readers of its memory.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/catalog/probe.h"
#include "runtime/instrument/agent/answer_times.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/agent/fault_sites.h"
#include "runtime/instrument/agent/lane_reader.h"
#include "runtime/instrument/agent/placed_probes.h"
#include "runtime/instrument/agent/stack_finder.h"
#include "runtime/instrument/agent/thread_ids.h"
#include "runtime/process/process.h"

namespace dvm::runtime {

using GlobalWords = std::array<uint64_t, inside::kMostGlobals>;

struct AgentTarget {
  explicit AgentTarget(AgentProcess its) : agent(std::move(its)), ids(agent.pid()) {}

  // Begins to read its lanes and arenas, which the agent shares.
  void read(StackCheck check);
  bool has_cookie(uint64_t cookie);
  void expect_records(const AgentSite& site);
  // Notes that a jump of the probe is on.
  void place(const EnabledProbe& probe, uint64_t address, FileKeys& files);
  // Answers what its clauses have asked for: stacks, and memory that they may load.
  void serve();
  // Says where the clauses with variables run. True: this empties thread-local variables.
  bool place_variables(inside::VariablesIn where);
  // It has ended by a fault of this program, with jumps in its code.
  bool has_crashed();
  // The memory that the agent was mapped into is gone: the process has executed another program, or has ended.
  bool is_over() const;
  // Stores the bytes of its jumps, for take_lost().
  void note_jumps();
  // Removes and returns the probes whose jumps have disappeared with the mapping of their file.
  std::vector<PlacedProbe> take_lost();
  // Takes off the jumps over instructions that may raise such signals. Removes and returns their probes. Empty: it is not
  // possible now, or there are none.
  std::vector<PlacedProbe> take_off(SignalSet handled);
  // The same of these jumps, and of all others of their functions and probes. jumps: sorted.
  std::vector<PlacedProbe> take_off(std::span<const uint64_t> jumps);
  // Notes why clauses read memory by system calls, if they do. is_said: -v says so with the clauses.
  void note_unsteady(const std::string& why, bool is_said);
  bool owns(pid_t pid) const { return pid == agent.pid() || forked.contains(pid); }
  // Firings whose records or aggregations could not be kept. An arena whose contents make no sense counts as one.
  uint64_t lost() const { return (lanes ? lanes->lost() : 0) + (arenas ? arenas->nonsense() : 0); }

  AgentProcess agent;
  bool has_become_other = false;   // it has executed another program
  bool was_missed = false;         // that program, or the one that it was about to execute, was not held
  uint64_t may_execute_until = 0;  // ns of CLOCK_MONOTONIC. Until then it may execute another unnoticed: a thread was about to
  std::string said_unsteady{}, unsteady{};  // why clauses read memory by system calls: as -v has said, and found later
  bool watches_loads = false;               // its dynamic linker
  uint64_t load_turns = 0;                  // of the linker, that were seen
  uint64_t late_loads = 0;                  // of these, that were noted as late
  AnswerTimes answers{};                    // to threads that are about to change memory of dvm, or to lock all
  bool is_left = false;                     // and nothing of this one is on
  bool is_read = false;                     // and its aggregations were read
  ThreadIds ids;                            // as dvm knows its threads
  std::optional<Process> process{};         // tells how it ends; none: it has ended
  std::unique_ptr<LaneReader> lanes;
  std::unique_ptr<ArenaReader> arenas;
  std::unique_ptr<StackFinder> stacks;  // if clauses in threads ask for these
  PlacedProbes placed{};
  FaultSites faults{};
  std::map<uint64_t, uint32_t> samples{};  // of its jumps: the bytes behind the opcode
  std::unordered_set<uint64_t> cookies;
  std::unordered_set<uint32_t> records;        // numbers of clauses that have records of their own
  std::optional<uint64_t> known_cookie;        // one of them
  std::unordered_set<int32_t> forked;          // processes that fire into its lanes as well
  std::vector<const Probe*> with_variables{};  // of the thread, whose clauses may run there
  bool has_variables = false;                  // they do
  bool has_thread_variables = false;           // and these are not only global variables
  GlobalWords changes{};                       // of global variables, as they were read last
};

// Whether a clause at the site has such a step, or a stack as a key.
bool has_step(const AgentFirer& firer, inside::ClauseStep::Kind kind);
bool has_step(const AgentSite& site, inside::ClauseStep::Kind kind);
bool has_stack(const AgentSite& site);

// The probes of processes that can take an agent. The others are refused.
std::vector<EnabledProbe> fit_for_agents(std::span<const EnabledProbe> probes, bool follows, std::vector<Refused>& refused);
// Size of the ring of one thread, given the size of a process's ring of uprobes.
uint32_t thread_share(size_t ring_bytes);
// With fewer lanes or smaller rings where the process has little memory left.
Result<AgentProcess> open_agent_process(pid_t pid, uint32_t ring_bytes, bool follows);

}  // namespace dvm::runtime
