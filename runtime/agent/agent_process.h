#pragma once
// The agent in one process: code that is mapped into it, sites whose first instruction jumps to that code, and lanes through
// which firings arrive. These are the steps:
//
//   1. Stop the process, map memory by remote calls, and continue it. Nothing refers to the mappings yet.
//   2. Write the code, the stubs and the table of patches. Nothing runs them yet.
//   3. Stop the process, write the jumps, arm the agent, and continue. The process fires.
//   4. Disarm the agent, stop the process, and restore the original bytes. No jump is left.
//   5. Unmap the memory by remote calls, and continue. Nothing is left.
//
// If dvm is killed after or during any step, the process continues correctly. The guard is started before the first jump is
// written. Mappings stay as long as a thread, or a signal frame, may be in a stub (unmap.h).
//
// Consumer context. If dvm has started the program, the calling thread must be the one that is its tracer.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.h"
#include "dvm/common/result.h"
#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/disturbed_jumps.h"
#include "runtime/agent/guard.h"
#include "runtime/agent/handler_watch.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/jump_locks.h"
#include "runtime/agent/lasting_memory.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/order_memory.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/semaphores.h"
#include "runtime/agent/site_groups.h"
#include "runtime/agent/steady_memory.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/code/displaced.h"

namespace dvm::runtime {

struct CodeArea;
struct MappingPlan;

// Initial contents of the data mapping.
struct BeginData {
  inside::ClockLine clock{};
  inside::Globals globals{};
};

class AgentProcess {
 public:
  // Does not change the process. lanes and ring_bytes: powers of two. follows: forked children fire too, through the same lanes.
  static Result<AgentProcess> open(pid_t pid, uint32_t lanes, uint32_t ring_bytes, bool follows);
  AgentProcess(AgentProcess&&) = default;
  AgentProcess& operator=(AgentProcess&&) = delete;
  // Frees the memory of lanes that are still mapped in the process.
  ~AgentProcess();

  // Enables the sites, which must not overlap. Sets the refusal of each site that cannot be enabled. An error means that none is
  // on. begin: the initial values that threads read. Clauses with thread-local variables do nothing until place_variables().
  Status enable(std::vector<AgentSite>& sites, const BeginData& begin = {});
  void place_variables(inside::VariablesIn where);
  // Takes all patches off, including those in forked children. After an error, the patches stay but do nothing.
  Status disable(Mappings mappings);
  // Call after that: the guard tries again, even after dvm has ended.
  void leave_to_guard() {
    if (guard_) guard_->hand_over();
  }

  // Call after that: threads that wait in a watched function may unmap the lanes, if no other thread uses them.
  void abandon_lanes(int tries);

  // Takes single jumps off. jumps: sorted addresses.
  Status take_off(std::span<const uint64_t> jumps);
  // Jumps that uprobes of other tools have disturbed, sorted: to be taken off, because the code is not right as long as they lie
  // there. Not all of them are found at once.
  std::vector<uint64_t> find_disturbed();
  // Call after that: forked children that are not followed have the same jumps, and the uprobes lie there, too.
  void clear_children();
  // True if the agent must leave the process, because one of these tells what the process is about to do.
  bool must_leave(std::span<const uint64_t> jumps) const { return jumps_.must_leave(jumps); }
  // Sets the signals that instructions under jumps may raise by faults. Threads that wait to install handlers for other signals
  // go on.
  void note_raised(uint64_t raised);

  // From then on, clauses read memory that is proven to stay mapped by plain loads, if all system calls that may unmap it are
  // watched. Returns why they do not; empty: they do. now: ns of CLOCK_MONOTONIC.
  std::string_view begin_steady(SteadyProposals::FindUnwatched find_unwatched);
  void refresh_steady(uint64_t now);
  // Unmaps what a failed enable() has left because a thread did not stop. For some seconds after that, now and then.
  void unmap_left(uint64_t now);
  // Why they have stopped to do so; empty: they have not.
  std::string_view steady_problem() const { return steady_ ? std::string_view(steady_->problem()) : steady_end_; }

  // Memory that dvm has added to the process.
  std::vector<AddressRange> own_ranges() const;

  pid_t pid() const { return context_.pid; }
  const AgentMemory& memory() const { return memory_; }
  const inside::Context& context() const { return context_; }
  // The file of the data mapping, from which firings are read. It outlives the process, and an exec.
  int data_file() const { return data_file_.get(); }
  // True if such a watch has been placed.
  bool watches(inside::Watch watch) const { return watched_.contains(watch); }
  bool is_on() const { return is_on_; }
  // True if stubs make no system calls, because the process has restricted them, or may do so unnoticed.
  bool is_muted() const;

 private:
  AgentProcess(AgentMemory memory, const inside::Context& context) : memory_(std::move(memory)), context_(context) {}
  using Area = CodeArea;
  static constexpr size_t kTakerBytes = 5;
  struct PlainSite {
    uint64_t address = 0;  // of the inside::Site
    AddressRange stub{};
    uint32_t probed = 0;
    std::array<std::byte, kTakerBytes> jump{};
  };
  std::vector<Area> divide(std::vector<AgentSite>& sites, const std::vector<MemoryMapping>& mappings) const;
  bool can_ask_for_threads(const std::vector<Area>& areas) const;
  Status enable_all(std::vector<AgentSite>& sites, const BeginData& begin);
  Status map(std::vector<Area>& areas, const BeginData& begin);
  bool begin_data(const BeginData& begin) const;
  static MappingPlan plan_for(const std::vector<Area>& areas);
  void unmap_unwritten(StoppedProcess& stopped, const MappingPlan& plan, bool keeps_data);
  void unmap_all();
  void detach_all();
  void write_area(Area& area);
  struct Waiting;
  struct Placing;
  Status patch(std::vector<AgentSite>& sites, std::vector<Area>& areas, SiteGroups& groups);
  void patch_groups(StoppedProcess& stopped, std::vector<Area>& areas, Placing& placing);
  void refuse_standing(StoppedProcess& stopped, Placing& placing);
  static void refuse_all(Placing& placing);
  bool place_jumps(StoppedProcess& stopped, std::span<const Waiting> chosen, SiteGroups& groups);
  void take_refused_off(StoppedProcess& stopped, std::span<const JumpedSite> sites);
  Status place_data(const std::vector<MemoryMapping>& mappings, std::vector<Area>& areas);
  Status check_space(const std::vector<Area>& areas) const;
  std::vector<RemoteCall> calls_for(const std::vector<Area>& areas, bool registers) const;
  void open_data_file();
  bool find_restarts(const StoppedProcess& stopped, const std::vector<Area>& areas);
  void note_plain(const std::vector<Area>& areas);
  std::set<uint64_t> reuse_sites(const std::vector<AgentSite>& sites);
  void find_unseen(const std::vector<AgentSite>& sites, const std::set<uint64_t>& reused);
  bool may_take_unseen(const StoppedProcess& stopped) const;
  void note_takers(const std::vector<AgentSite>& sites, const std::set<uint64_t>& reused);
  void end_steady();
  bool are_takers_on();
  void note_own(const std::vector<Area>& areas);
  void note_watch(const StoppedProcess& stopped, const AgentSite& site);
  void note_unwatched(const AgentSite& site);
  void arm_alone(const StoppedProcess& stopped, const std::vector<Area>& areas, const std::set<pid_t>& apart);
  Result<std::vector<Area>> place(std::vector<AgentSite>& sites, const BeginData& begin);
  struct Mapped {
    bool areas = false, data = false;
  };
  Mapped find_mapped(const std::vector<Area>& areas) const;
  bool is_data_mapped() const { return static_cast<bool>(data_file_); }
  uint64_t data_bytes() const;
  uint64_t globals_at() const;  // in the process
  uint64_t semaphores_at() const { return inside::semaphores_at(context_.armed); }

  AgentMemory memory_;
  inside::Context context_;
  FileDescriptor data_file_;
  std::optional<AgentGuard> guard_;
  JumpLocks locks_;
  bool is_on_ = false, is_abandoned_ = false;
  bool has_mapped_ = false;                      // or tried to
  int unmappings_ = 0;                           // further attempts to unmap what is left of an agent that has placed nothing
  uint64_t unmapped_ = 0;                        // the time of the last one
  bool is_ordered_ = order_memory_of_threads();  // and dvm can do that
  bool has_semaphores_ = false;                  // of forked children, too
  std::set<inside::Watch> watched_;
  bool is_unwatched_ = false;  // a function that may start tasks
  HandlerWatch handlers_;
  DisturbedJumps jumps_;
  bool is_restartable_ = false;          // its threads have rseq areas, all at one offset
  std::map<uint64_t, PlainSite> plain_;  // by their windows
  // Where a thread may be about to take memory, and has passed the site that would have noted it.
  std::vector<AddressRange> unseen_;
  std::set<uint64_t> unseen_numbers_;  // of the calls there
  bool no_unseen_ = true;              // there was no such thread
  // Jumps before and behind system calls that may take steady memory, and their bytes. Empty: not all are on.
  std::map<uint64_t, std::array<std::byte, kTakerBytes>> takers_;
  uint64_t looked_ = 0;  // for these bytes
  std::optional<SteadyProposals> steady_;
  std::string steady_end_;
  uint64_t raised_ = 0;  // signals, by faults of instructions under jumps
  LastingRanges lasting_;
  inside::OwnMemory own_;
  inside::WatchedMemory data_;
};

}  // namespace dvm::runtime
