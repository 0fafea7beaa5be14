#pragma once
// The agent in one process: code that is mapped into it, sites whose first instruction jumps there, and lanes through which
// firings come.
//
//   stop, map by remote calls, go on         mappings that nothing refers to
//   write code, stubs, table of patches      still nothing runs it
//   stop, write the jumps, arm, go on        the process fires
//   disarm, stop, write the bytes back       no jump is left
//   unmap by remote calls, go on             nothing is left
//
// After each of these steps, and in the middle of each, the process is correct, should dvm be killed there. The guard is started
// before the first jump is written. Mappings stay as long as a thread, or a signal frame, may be in a stub (unmap.h).
//
// Consumer context, and the thread of dvm that is the tracer of a program that it has started.

#include <cstdint>
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
#include "runtime/agent/guard.h"
#include "runtime/agent/handler_watch.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/lasting_memory.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/order_memory.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/site_groups.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/code/displaced.h"

namespace dvm::runtime {

struct CodeArea;

// Of the data mapping, at first.
struct BeginData {
  inside::ClockLine clock{};
  inside::Globals globals{};
};

class AgentProcess {
 public:
  // Changes nothing yet. lanes and ring_bytes: powers of two. follows: what it forks fires as well, into the same lanes.
  static Result<AgentProcess> open(pid_t pid, uint32_t lanes, uint32_t ring_bytes, bool follows);
  AgentProcess(AgentProcess&&) = default;
  AgentProcess& operator=(AgentProcess&&) = delete;
  // Lanes that are still mapped in the process hold nothing then.
  ~AgentProcess();

  // Enables the sites, which do not overlap, and fills in the refusals of those that are not. An error means that none is on.
  // begin: what threads read at first; dvm publishes later values. Clauses with thread-local variables do nothing until
  // place_variables().
  Status enable(std::vector<AgentSite>& sites, const BeginData& begin = {});
  void place_variables(inside::VariablesIn where);
  // Takes all patches off, also those of what it has forked. With an error they are inert, and stay.
  Status disable(Mappings mappings);
  // After that: the guard tries it again, also once dvm has ended.
  void leave_to_guard() {
    if (guard_) guard_->hand_over();
  }

  // Takes single jumps off, which are sorted.
  Status take_off(std::span<const uint64_t> jumps);
  // The signals that instructions under jumps may raise by faults. Threads that wait to handle others go on.
  void note_raised(uint64_t raised);

  pid_t pid() const { return context_.pid; }
  const AgentMemory& memory() const { return memory_; }
  const inside::Context& context() const { return context_; }
  // Where the process, or what it was before it has executed another program, leaves firings. Lasts longer than the process.
  int data_file() const { return data_file_.get(); }
  bool is_on() const { return is_on_; }
  // Stubs make no system calls: the functions by which the process may restrict them are not watched, or it has done so.
  bool is_muted() const;

 private:
  AgentProcess(AgentMemory memory, const inside::Context& context) : memory_(std::move(memory)), context_(context) {}
  using Area = CodeArea;
  std::vector<Area> divide(std::vector<AgentSite>& sites, const std::vector<MemoryMapping>& mappings) const;
  bool can_ask_for_threads(const std::vector<Area>& areas) const;
  Status map(std::vector<Area>& areas, const BeginData& begin);
  bool begin_data(const BeginData& begin) const;
  void write_area(Area& area);
  struct Waiting;
  Status patch(std::vector<Area>& areas, SiteGroups& groups);
  void patch_groups(StoppedProcess& stopped, std::vector<Area>& areas, std::vector<Waiting>& waiting, SiteGroups& groups);
  bool place_jump(StoppedProcess& stopped, const Waiting& one);
  Status place_data(const std::vector<MemoryMapping>& mappings, std::vector<Area>& areas);
  std::vector<RemoteCall> calls_for(const std::vector<Area>& areas) const;
  void open_data_file();
  void note_own(const std::vector<Area>& areas);
  void note_watch(const StoppedProcess& stopped, const AgentSite& site);
  void note_unwatched(const AgentSite& site);
  void arm_alone(const StoppedProcess& stopped, const std::vector<Area>& areas);
  Result<std::vector<Area>> place(std::vector<AgentSite>& sites, const BeginData& begin);
  struct Mapped {
    bool areas = false, data = false;
  };
  Mapped find_mapped(const std::vector<Area>& areas) const;
  bool is_data_mapped() const { return static_cast<bool>(data_file_); }
  uint64_t data_bytes() const;
  uint64_t globals_at() const;  // in the process

  AgentMemory memory_;
  inside::Context context_;
  FileDescriptor data_file_;
  std::optional<AgentGuard> guard_;
  bool is_on_ = false;
  bool is_ordered_ = order_memory_of_threads();  // and dvm can do that
  std::set<inside::Watch> watched_;
  bool is_unwatched_ = false;  // a function that may start tasks
  HandlerWatch handlers_;
  uint64_t raised_ = 0;  // signals, by faults of instructions under jumps
  LastingRanges lasting_;
  inside::OwnMemory own_;
  inside::WatchedMemory data_;
};

}  // namespace dvm::runtime
