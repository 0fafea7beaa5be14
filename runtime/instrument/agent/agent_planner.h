#pragma once
// Plans the sites of enabled probes in processes: the window of each, or why it cannot be replaced.

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/code/module_code.h"
#include "runtime/code/raised_signals.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/agent/clause_code.h"
#include "runtime/instrument/agent/clause_places.h"
#include "runtime/instrument/agent/clause_records.h"
#include "runtime/instrument/agent/semaphore_finder.h"
#include "runtime/instrument/agent/tail_finder.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/delivery.h"
#include "runtime/instrument/uprobe/return_plan.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// A site and its probes.
struct AgentPlannedSite {
  AgentSite site;
  std::vector<const Probe*> probes;  // empty: the function is only watched
  std::vector<InDvm> in_dvm{};       // for each probe: why its clauses run in dvm
  std::vector<const EnabledProbe*> enabled{};
};

// The aggregations of clauses that run in threads, by their numbers.
using KnownClauses = std::vector<KnownClause>;
using PlannedProcesses = std::map<pid_t, std::vector<AgentPlannedSite>>;

struct MemoryCaller;

class AgentPlanner {
 public:
  // by_breakpoints: breakpoints, not uprobes, take the probes that it refuses.
  AgentPlanner(Delivery& delivery, bool by_breakpoints) : delivery_(delivery), by_breakpoints_(by_breakpoints) {}

  // Adds the probes that plan() would refuse, and the places where it would let clauses run. Changes no process.
  void preview(std::span<const EnabledProbe> probes, std::vector<Refused>& refused, ClausePlaces& places) const;
  // If one probe of a function is refused and a uprobe may be placed on the same instructions, all probes of the function are
  // refused. anew: processes that are new, or have executed another program.
  Result<PlannedProcesses> plan(std::span<const EnabledProbe> probes, std::vector<Refused>& refused,
                                const std::set<pid_t>& anew = {});
  // The sites in unwinders of files that the process has mapped late, each once. There they look up unwind information.
  std::vector<AgentPlannedSite> late_unwinders(pid_t pid);
  // For a process without probes: the sites that report that it is about to execute a program. Empty: there can be none.
  std::vector<AgentPlannedSite> watches_of(pid_t pid);
  // Copies of watched sites without their probes. They take the place of sites that the agent refuses, since breakpoints for
  // these probes may lie beside jumps. A program that unmaps memory of dvm's must not do so unseen.
  std::vector<AgentSite> bare_watches(std::span<const AgentPlannedSite> planned) const;
  // Sites will fire in children too, so the pid is not constant.
  void follow() { follows_ = true; }
  const KnownClauses& clauses() const { return clauses_; }
  ClauseRecords& records() { return records_; }
  // Thread-local variables of a process are kept in dvm as soon as a clause that uses some runs there, and with global variables
  // of threads all variables are.
  bool has_variables(pid_t pid) const { return has_all_ || has_variables_.contains(pid); }
  void keep_variables(pid_t pid) { has_variables_.insert(pid), has_all_ |= changes_globals(); }
  // Clauses of the probe use such variables, or global variables that threads change.
  bool shares(const EnabledProbe& probe) const {
    return probe.has_thread_variables || globals_.are_kept(probe.globals) || globals_.are_kept(probe.other_globals);
  }
  // Clauses load what stays mapped, as long as no code of the process can take it away unseen. The planner outlives the agent.
  // Returns the following.
  std::string begin_steady(AgentProcess& agent);
  // Why they read it by system calls instead, as far as is known; empty: they need not, or read no memory.
  std::string why_by_calls(pid_t pid) const {
    const auto known = unsteady_.find(pid);
    return known == unsteady_.end() ? std::string() : known->second;
  }
  // A clause that runs in threads may end the run. Then the same holds of all clauses as of those with such variables.
  bool ends_run() const { return ends_run_; }
  // A firing before BEGIN must not end the run, nor change global variables.
  bool waits_for_begin() const { return ends_run_ || changes_globals(); }
  bool changes_globals() const { return !globals_.kept().empty(); }
  InDvm reason_to_share() const { return ends_run_ ? InDvm::exits : InDvm::shared; }

 private:
  // A watch must not be refused with probes of another function. What places the probe instead does so in its own function.
  static constexpr std::string_view kLeavesToWatched = "it leaves by a jump to a function that the agent watches";

  struct File {
    std::shared_ptr<const ModuleCode> code = {};  // null: it cannot be read
    std::shared_ptr<const ElfObject> elf = {};    // likewise
  };
  struct Candidate {
    const EnabledProbe* enabled = nullptr;
    const UprobeSite* site = nullptr;
    const ModuleCode* code = nullptr;  // of read_, as `elf`
    const ElfObject* elf = nullptr;
    FunctionExtent function{};
    uint64_t address = 0;  // of the function
    JumpWindow window{};
    uint32_t probed = 0;     // offset in the function
    uint64_t semaphore = 0;  // address of the marker's; 0: none

    inside::Tail tail{};          // of a return by tail jump: the work at this site
    uint64_t left = 0;            // address of the function left by a tail jump
    uint32_t depth = 0;           // of a `ret` behind tail jumps: their number
    bool is_conditional = false;  // the jump may not be taken

    std::vector<uint32_t> relays{};  // of a window that is too short for a jump: offsets of possible relays in the function
    uint32_t relay = 0;              // the chosen relay
    std::optional<uint32_t> exit{};  // of a return: offset of the exit in the function
    std::string_view refusal{};

    uint64_t window_offset() const { return function.offset + window.begin; }  // in the file
    uint64_t window_address() const { return address + window.begin; }
    FiredAt fired_at() const { return {enabled->probe->id, 0, exit}; }
  };

  void forget_files();
  void find_windows(std::span<const EnabledProbe> probes, std::vector<Refused>& refused);
  void add(const EnabledProbe& enabled, const UprobeSite& site);
  std::string_view locate(Candidate& candidate);
  std::string_view fill(Candidate& candidate);
  std::string_view refusal_of(const Candidate& candidate);
  void add_exits(const Candidate& candidate);
  std::string_view fill_exit(Candidate& candidate);
  std::string_view fill_watched(Candidate& candidate);
  void add_at(const Candidate& candidate, std::span<const uint32_t> exits);
  bool may_fire_at_jumps(const Candidate& candidate, const Exits& exits);
  void add_tails(const Candidate& candidate, const Exits& known);
  std::string_view fill_jump(Candidate& made, const TailExits::Jump& jump);
  std::string_view fill_other(Candidate& made, const TailExits::Other& other, bool wants_offset);
  void put_outer_last();
  void choose_relays();
  const FunctionCode& decode(const Candidate& candidate);
  CodeBytes with_padding(const Candidate& candidate);
  const File& file_at(const std::string& path);
  std::optional<FunctionExtent> function_of(const UprobeSite& site, const File& file);
  std::optional<uint64_t> address_of(const UprobeSite& site, uint64_t offset);
  bool has_symbol_inside(const Candidate& candidate);
  bool has_refused(const Candidate& function) const;
  bool may_mix_with(const Probe& probe) const;
  bool may_mix(const Candidate& refused) const;
  bool is_watched(const Candidate& function) const;
  void add_watches(pid_t pid, std::vector<AgentPlannedSite>& sites);
  void refuse_unwatched(PlannedProcesses& planned, std::vector<Refused>& refused);
  void add_fork_watch(UprobeSite site, std::vector<AgentPlannedSite>& sites);
  bool has_other_tracer(const UprobeSite& linker);
  void add_linker_watches(const UprobeSite& linker, std::vector<AgentPlannedSite>& sites);
  bool add_watch(const UprobeSite& site, inside::Watch watch, std::vector<AgentPlannedSite>& sites);
  std::string unwatched_in(const AgentProcess& agent, const std::vector<MemoryMapping>& mappings);
  void forget(const std::set<pid_t>& pids);
  void add_takers(pid_t pid, std::vector<AgentPlannedSite>& sites);
  bool is_fork(const UprobeSite& behind, const std::vector<AgentPlannedSite>& sites);
  bool add_taker(pid_t pid, const MemoryCaller& call, std::vector<AgentPlannedSite>& sites);
  bool add_taking(const UprobeSite& site, inside::Taking taking, const MemoryCaller& call, std::vector<AgentPlannedSite>& sites);
  void refuse_entered();
  void refuse_overlaps();
  void refuse_raising();
  SignalSet signals_of(const Candidate& candidate);
  void refuse_with_function(std::vector<Refused>& refused);
  bool follows_frame_pointers(const Candidate& candidate);
  ClauseSteps steps_of(const Candidate& candidate);
  static bool ends_run(const EnabledProbe& enabled);
  std::vector<ClauseSteps> made_steps();
  std::vector<ClauseSteps> all_steps();
  uint32_t number_of(KnownClause clause);
  static SiteShape shape_at(const Candidate& candidate);
  AgentSite site_of(const Candidate& candidate);
  Status add(const Candidate& candidate, ClauseSteps& steps, AgentPlannedSite& to);
  // The programs of a record of these needs, for an AgentFirer or an AgentClauseRecord, and their cookies.
  template <class Record>
  Status add_programs(const Candidate& candidate, CaptureNeeds needs, Record& to, uint64_t& cookie, uint64_t& larger_cookie);
  Status add_record(const Candidate& candidate, AgentStep& step);

  Delivery& delivery_;
  bool by_breakpoints_;
  bool follows_ = false;
  std::shared_ptr<ModuleCodes> files_ = std::make_shared<ModuleCodes>();  // of previews, too: a large file is read long
  ElfCache elfs_;
  std::map<pid_t, std::vector<MappedObject>> objects_;  // of the current plan
  std::map<std::string, File> read_;                    // likewise, by path: thousands of probes lie in one
  SemaphoreFinder semaphores_;
  ReturnPlanner returns_;
  TailFinder tails_;
  std::vector<Candidate> candidates_;
  KnownClauses clauses_;
  ClauseRecords records_;
  std::set<std::pair<pid_t, uint64_t>> unwinders_;             // by their addresses
  std::set<std::pair<pid_t, uint64_t>> linkers_;               // likewise: where they report files, with the agent's own jump
  std::set<pid_t> unwatched_;                                  // processes with uprobes where a watch would have to lie
  std::set<pid_t> has_variables_;                              // processes whose thread-local variables are dvm's
  bool has_all_ = false;                                       // likewise of all processes
  std::map<pid_t, std::vector<AddressRange>> own_;             // memory that dvm has added
  std::map<pid_t, std::string> unsteady_;                      // why clauses read memory by system calls; empty: they need not
  std::set<std::tuple<pid_t, std::string, uint64_t>> takers_;  // system calls that are watched for that: file and offset
  bool ends_run_ = false;
  ChangedGlobals globals_;
  bool has_placed_ = false;  // then it is known which of these the threads keep
};

}  // namespace dvm::runtime
