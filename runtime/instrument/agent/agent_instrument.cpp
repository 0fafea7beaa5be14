// The instrument: processes with an agent, and their lanes. Tested by tests/runtime/scenarios/test_agent.py.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "common/clock.h"
#include "runtime/agent/agent_process.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/buffer/seen_addresses.h"
#include "runtime/instrument/agent/agent.h"
#include "runtime/instrument/agent/agent_notes.h"
#include "runtime/instrument/agent/agent_planner.h"
#include "runtime/instrument/agent/agent_target.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/agent/clause_places.h"
#include "runtime/instrument/agent/clause_records.h"
#include "runtime/instrument/agent/exec_holds.h"
#include "runtime/instrument/agent/gone_threads.h"
#include "runtime/instrument/agent/lane_reader.h"
#include "runtime/instrument/agent/late_updates.h"
#include "runtime/instrument/agent/left_programs.h"
#include "runtime/instrument/agent/lost_probes.h"
#include "runtime/instrument/agent/refused_once.h"
#include "runtime/instrument/agent/stack_finder.h"
#include "runtime/instrument/agent/thread_aggregations.h"
#include "runtime/instrument/agent/thread_clock.h"
#include "runtime/instrument/agent/thread_globals.h"
#include "runtime/instrument/agent/tsc_clock.h"
#include "runtime/instrument/agent/yielded_probes.h"
#include "runtime/instrument/pace.h"
#include "runtime/instrument/uprobe/delivery.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kFreesEvery = 100'000'000, kLooksEvery = 20'000'000;  // ns
constexpr unsigned kMostRenewals = 256;                                  // each adds code to the process
constexpr size_t kStackRingBytes = 32 << 20;                             // where records hold stacks, as with uprobes
class AgentInstrument final : public Instrument,
                              public FollowsProcesses,
                              public TellsNotes,
                              public Aggregates,
                              public ChangesGlobals,
                              public Merges,
                              public WatchesLoads,
                              public LosesProbes {
 public:
  AgentInstrument(size_t ring_bytes, bool by_breakpoints)
      : ring_bytes_(thread_share(ring_bytes)), planner_(delivery_, by_breakpoints), losses_(may_use_bpf()) {}
  ~AgentInstrument() override { AgentInstrument::disable(); }

  std::string_view name() const override { return "agent"; }
  ClauseWay way(const Probe& probe, unsigned clause) const override { return places_.way(probe, clause); }
  std::string_view refusal(const Probe& probe) const override {
    return std::holds_alternative<UprobeSite>(probe.site) ? "" : "it fires at instructions only";
  }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    if (probes.empty()) return {};
    for (const EnabledProbe& one : probes) probed_.insert(std::get<UprobeSite>(one.probe->site).pid);
    if (losses_.leaves_loads() || (follows_ && !processes_.empty())) return refuse_late(probes, refused);
    const Status placed = place(probes, refused);
    for (const EnabledProbe* one : refused_of(probes, refused)) keep_variables(*one);
    if (placed && losses_.are_late() && refused.size() < probes.size()) note_late(probes.front());
    return placed;
  }

  void preview(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    planner_.preview(fit_for_agents(probes, follows_, refused), refused, places_);
  }

  Result<uint64_t> poll(EventSink& sink) override {
    collect();
    uint64_t count = 0;
    deliver_until(UINT64_MAX, sink, count);
    return count;
  }

  void collect() override {
    release_stragglers();
    clock_.read();
    delivery_.set_wall_offset(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC));
    const uint64_t before = copied_bytes(processes_);
    for (auto& [pid, process] : processes_)
      if (process->lanes) has_begun_ ? process->lanes->collect() : process->lanes->forget_losses();
    for (auto& [pid, process] : processes_) process->serve();
    yielded_.look(processes_, read_clock(CLOCK_MONOTONIC), notes_);
    found_ = copied_bytes(processes_) - before;
    if (uses_time_)
      for (auto& [pid, process] : processes_) publish(clock_.line(), process->agent.data_file());
    free_lanes();
  }

  bool deliver_until(uint64_t time, EventSink& sink, uint64_t& count) override {
    LaneRecord record;
    uint64_t others = 0;
    while (AgentTarget* earliest = earliest_in(processes_, record, others)) {
      do {
        const uint64_t at = clock_.time_of(record.ticks);
        if (at > time) return true;
        count++, gone_.tell(record.ticks, sink);
        const bool wants_more = deliver(*earliest, record, at, sink);
        earliest->lanes->take_first();
        if (!wants_more) return false;
      } while (earliest->lanes->has_first_before(others, record));
    }
    return true;
  }

  Pacing pacing() const override { return {.backlog = static_cast<double>(found_) / wanted_bytes(ring_bytes_)}; }
  Abilities abilities() override {
    return {.follows = this, .watches = this, .notes = this, .aggregates = this, .merges = this, .loses = this, .globals = this};
  }
  AggregationSource& aggregations() override { return aggregations_; }
  void begin() override {
    has_begun_ = true;
    for (auto& [pid, process] : processes_) {
      if (process->arenas) process->arenas->forget();
      place_variables(pid, *process);
    }
  }
  void set_global(uint16_t id, uint64_t value) override { globals_.set(id, value, processes_); }
  bool take_changes(std::span<GlobalChange> all) override { return planner_.changes_globals() && globals_.take(all, processes_); }
  void take_addresses(const VisitAddress& visit) override {
    addresses_.take_added([&](const SeenAddresses::SeenAddress& one) { visit(one.pid, one.address); });
  }
  // Children inherit the jumps and the lanes, and their stubs say who they are.
  Status follow(int32_t) override {
    if (!std::exchange(follows_, true) && !losses_.by_uprobes()) notes_.emplace_back(kFollowsNoPrograms);
    planner_.follow();
    return {};
  }
  bool has_descendants() override {
    const uint64_t now = read_clock(CLOCK_MONOTONIC);
    if (now - looked_ < kLooksEvery) return true;
    looked_ = now;
    const std::vector<pid_t> all = processes_of(getpid());
    return std::any_of(all.begin(), all.end(), [&](pid_t pid) { return !processes_.contains(pid); });
  }
  bool passes_on() const override { return true; }
  std::vector<std::string> take_notes() override {
    delivery_.note_cut_stacks(notes_), execs_.take_notes(processes_, notes_);
    return std::exchange(notes_, {});
  }

  std::vector<std::string> changes() const override { return unsteady_texts(processes_); }
  Status watch(const LinkerSite& linker) override {
    if (losses_.by_uprobes()) return Error{""};  // an agent leaves it to them
    losses_.watch(linker.pid), watch_execs(linker.pid);
    return execs_.watch(processes_, linker);
  }
  std::vector<LoadedIn> take_loads() override {
    const bool by_memory = !losses_.by_uprobes();
    std::vector<LoadedIn> loads = execs_.take(processes_, losses_.take_loads(), {renewed_, notes_}, by_memory);
    if (by_memory)
      for (const pid_t pid : execs_.missed())
        losses_.wait(pid, {}, read_clock(CLOCK_MONOTONIC));  // until it has mapped its files
    return loads;
  }
  void settle() override {
    for (const pid_t pid : execs_.executed()) watch_execs(pid);
    execs_.settle(processes_, {renewed_, notes_});
  }

  std::vector<LostProbe> take_lost(std::span<const LoadedIn> loads) override {
    const uint64_t now = read_clock(CLOCK_MONOTONIC);
    losses_.note(loads);
    if (!loads.empty() || losses_.is_due(now)) losses_.find(processes_, now);
    watch_unwinders(loads_);
    loads_.assign(loads.begin(), loads.end());
    ProbesByProcess mapped;
    losses_.take_mapped(loads, now, mapped);
    if (losses_.by_uprobes() && follows_ && (!mapped.empty() || LostProbes::has_foreign(processes_, loads)))
      losses_.take_mapped(give_up(now), now, mapped);
    std::vector<LostProbe> lost = yielded_.take_lost();
    for (auto& [pid, probes] : mapped) losses_.by_uprobes() ? hand_over(pid, probes, lost) : renew(pid, probes, lost);
    for (const LostProbe& one : lost) keep_variables(one.enabled);
    return lost;
  }

  uint64_t drops() const override { return foreign_ + lost_firings(processes_) + left_.lost(); }

  void disable() override {
    if (follows_)
      for (const pid_t pid : processes_of(getpid())) had_lanes_.insert(pid);
    take_off(processes_, notes_);
  }

 private:
  Status refuse_late(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
    for (const EnabledProbe& one : probes) {
      keep_variables(one);
      refused.push_back({one.probe, "its file was loaded late, possibly by a child that was forked before the attach"});
    }
    return {};
  }

  Status place(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
    if (std::any_of(probes.begin(), probes.end(), [](const EnabledProbe& one) { return one.needs.frames > kKnownFrames; }))
      ring_bytes_ = std::max(ring_bytes_, thread_share(kStackRingBytes));
    auto planned = planner_.plan(probes, refused, without_agent(processes_, probes));
    if (!planned) return planned.error();
    for (auto& [pid, sites] : *planned) {
      const Status enabled = enable_in(pid, sites, refused);
      if (enabled) continue;
      RefusedOnce once(refused);
      for (const AgentPlannedSite& site : sites) once.add(site, enabled.error().message);
    }
    for (auto& [pid, process] : processes_) place_variables(pid, *process);
    return {};
  }

  // A process without probes says that it is about to execute a program, too.
  void watch_execs(pid_t pid) {
    if (follows_ || live_target(processes_, pid) != nullptr) return;
    LeftPrograms::end(processes_, pid);
    std::vector<AgentPlannedSite> sites = planner_.watches_of(pid);
    std::vector<Refused> refused;
    const Status watched = sites.empty() ? Status() : enable_in(pid, sites, refused);
    if (!watched && !probed_.contains(pid) && !is_gone(pid)) notes_.push_back(unheld_text(pid, watched.error().message));
  }

  void note_late(const EnabledProbe& first) {
    const pid_t pid = std::get<UprobeSite>(first.probe->site).pid;
    if (!execs_.has(pid) && renewed_[pid]++ == 0) notes_.push_back(late_text(pid, first.probe->function));
  }

  // The first probes of what may be another program, or about to become yet another: a refusal is not the last word.
  void renew(pid_t pid, std::vector<PlacedProbe>& probes, std::vector<LostProbe>& lost) {
    if (!follows_) LeftPrograms::end(processes_, pid);
    const std::vector<EnabledProbe> enabled = enabled_of(probes);
    std::vector<Refused> refused;
    const Status placed = renewed_[pid] < kMostRenewals ? place(enabled, refused) : Error{"its file was mapped again too often"};
    losses_.wait_or_lose(pid, probes, refused, placed, lost);
    const std::string text = renewal_text(pid, enabled, refused, placed, execs_.has(pid));
    if (!text.empty() && renewed_[pid]++ == 0) notes_.push_back(text);
  }

  // A C program may load libgcc late, at its first backtrace() or pthread_cancel(). It waits then, and cannot be stopped yet.
  void watch_unwinders(std::span<const LoadedIn> loads) {
    std::vector<Refused> none;
    for (const LoadedIn& load : loads) {
      AgentTarget* target = live_target(processes_, load.pid);
      if (follows_ || target == nullptr || !target->agent.is_on()) continue;
      std::vector<AgentPlannedSite> sites = planner_.late_unwinders(load.pid);
      if (!sites.empty()) (void)enable_in(load.pid, sites, none);
    }
  }

  // Another instrument will make the probe fire.
  void keep_variables(const EnabledProbe& enabled) {
    const pid_t pid = std::get<UprobeSite>(enabled.probe->site).pid;
    if (!planner_.shares(enabled) || planner_.has_variables(pid)) return;
    planner_.keep_variables(pid);
    for (auto& [its_pid, process] : processes_) place_variables(its_pid, *process);
  }

  // To the instruments behind this one.
  void hand_over(pid_t pid, std::vector<PlacedProbe>& probes, std::vector<LostProbe>& lost) {
    if (!follows_) LeftPrograms::end(processes_, pid);
    for (PlacedProbe& one : probes) lost.push_back({std::move(one.enabled), "its file was mapped again"});
  }

  // All of them: uprobes that follow forks lie in all processes, where no jump may. Returns whose they were.
  std::vector<LoadedIn> give_up(uint64_t now) {
    std::vector<LoadedIn> given_up;
    for (const pid_t pid : processes_of(getpid())) had_lanes_.insert(pid);
    for (auto& [pid, process] : processes_) {
      if (!process->agent.is_on() || !process->agent.disable(Mappings::keep)) continue;
      losses_.wait(pid, process->placed.take_lost({}), now);
      given_up.push_back({pid, pid});
    }
    if (!given_up.empty()) notes_.emplace_back(kGivenUp);
    return given_up;
  }

  Status enable_in(pid_t pid, std::vector<AgentPlannedSite>& planned, std::vector<Refused>& refused) {
    auto process = process_of(pid);
    if (!process) return process.error();
    std::vector<AgentSite> spares = planner_.bare_watches(planned), sites;
    for (AgentPlannedSite& one : planned) sites.push_back(std::move(one.site));
    sites.insert(sites.end(), spares.begin(), spares.end());
    if (Status enabled = (*process)->agent.enable(sites, begin_data(**process, sites)); !enabled) return enabled;
    (*process)->note_unsteady(planner_.begin_steady((*process)->agent), !has_begun_);
    if (!(*process)->lanes && (*process)->agent.data_file() >= 0) (*process)->read(check_of(**process));
    find_stacks(pid, **process, sites);
    if ((*process)->agent.is_on() && (*process)->agent.is_muted()) tell_muted(pid, sites, follows_, notes_);
    RefusedOnce once(refused);
    FileKeys files;
    for (size_t i = 0; i < planned.size(); i++) {
      (*process)->expect_records(sites[i]);
      note_variables(pid, **process, sites[i], planned[i].probes);
      if (sites[i].refusal.empty()) (*process)->faults.add(sites[i]);
      if (sites[i].refusal.empty())
        aggregations_.is_empty &= !places_.note(sites[i], planned[i].enabled, planned[i].in_dvm, planner_.why_by_calls(pid));
      for (const EnabledProbe* one : planned[i].enabled)
        if (sites[i].refusal.empty()) (*process)->place(*one, sites[i].window_address, files);
      if (!sites[i].refusal.empty()) once.add(planned[i], sites[i].refusal);
    }
    (*process)->note_jumps();
    return {};
  }

  // By dvm's own list of processes, and their code.
  StackCheck check_of(const AgentTarget& process) {
    return [this, &process](int32_t& pid, std::span<const uint64_t> frames, size_t certain) {
      if (!process.owns(pid) && !is_forked(process, pid)) pid = process.agent.pid();
      const size_t count = delivery_.unwinder().count_executable(pid, frames, certain);
      for (const uint64_t frame : frames.first(count)) addresses_.note(pid, frame);
      return count;
    };
  }

  // An address makes dvm read what the process has mapped, while it can be.
  void find_stacks(pid_t pid, AgentTarget& process, const std::vector<AgentSite>& sites) {
    const auto found = std::find_if(sites.begin(), sites.end(), has_stack);
    if (found == sites.end() || process.agent.data_file() < 0) return;
    if (!process.stacks)
      process.stacks = std::make_unique<StackFinder>(process.agent.data_file(), process.agent.context().lanes, process.ids);
    if (!std::exchange(has_stacks_, true)) addresses_.make_room();
    addresses_.note(pid, found->window_address);
  }

  // The first line of the clock, if a clause reads it, and globals.
  BeginData begin_data(AgentTarget& process, const std::vector<AgentSite>& sites) {
    uses_time_ |= std::any_of(sites.begin(), sites.end(),
                              [](const AgentSite& site) { return has_step(site, inside::ClauseStep::Kind::time); });
    const inside::Globals& globals = globals_.begin(process, processes_);
    if (!uses_time_) return {{}, globals};
    const inside::ClockLine line = clock_.line();
    if (process.agent.data_file() >= 0) publish(line, process.agent.data_file());
    return {line, globals};
  }

  void note_variables(pid_t pid, AgentTarget& process, const AgentSite& site, const std::vector<const Probe*>& probes) {
    for (size_t i = 0; i < site.firers.size() && i < probes.size(); i++) {
      if (!site.firers[i].has_variables) continue;
      process.with_variables.push_back(probes[i]);
      if (!site.refusal.empty()) planner_.keep_variables(pid);
    }
  }

  // Once it is known where the clauses of a process that use thread-local variables run: all in its threads, or none.
  void place_variables(pid_t pid, AgentTarget& process) {
    if (process.with_variables.empty() || process.is_over()) return;
    const bool are_in_dvm = planner_.has_variables(pid), may_wait = !are_in_dvm && planner_.waits_for_begin();
    if (may_wait && (!has_begun_ || process.has_variables)) return;
    if (process.place_variables(are_in_dvm ? inside::VariablesIn::dvm : inside::VariablesIn::thread))
      notes_.push_back(emptied_text(pid));
    if (are_in_dvm)
      for (const Probe* probe : process.with_variables) places_.leave_to_dvm(probe, planner_.reason_to_share());
  }

  void collect_aggregations(const AggregationSource::Visit& each) {
    for (auto& [pid, process] : processes_)
      if (process->arenas) process->arenas->collect(planner_.clauses(), each, !process->agent.is_on());
    late_.take(planner_.clauses(), each);
    LeftPrograms::note_read(processes_);
  }

  Result<AgentTarget*> process_of(pid_t pid) {
    if (AgentTarget* known = live_target(processes_, pid)) return known;
    if (losses_.by_uprobes() && processes_.contains(pid)) return Error{"it has executed another program"};
    auto opened = open_agent_process(pid, ring_bytes_, follows_);
    if (!opened) return opened.error();
    auto made = std::make_unique<AgentTarget>(*std::move(opened));
    if (auto process = Process::grab(pid)) made->process = *std::move(process);
    return processes_.emplace(pid, std::move(made))->second.get();
  }

  void free_lanes() {
    const uint64_t now = read_clock(CLOCK_MONOTONIC);
    if (now - freed_ < kFreesEvery) return;
    freed_ = now;
    for (auto& [pid, process] : processes_)
      if (process->lanes) gone_.free_lanes(pid, *process->lanes);
    if (losses_.by_uprobes() || follows_) return;  // what they do then depends on earlier programs, too
    if (planner_.changes_globals()) globals_.read(processes_);
    execs_.note_late(processes_), left_.free(processes_, !aggregations_.is_empty, gone_);
    aggregations_.are_many = LeftPrograms::are_many(processes_);
  }

  // The process has written the record: what names a probe, a process or a CPU is checked here, lengths by decode().
  bool deliver(AgentTarget& process, const LaneRecord& record, uint64_t time, EventSink& sink) {
    uint64_t head = 0;
    if (record.bytes.size() < sizeof head) return foreign_++, true;
    std::memcpy(&head, record.bytes.data(), sizeof head);
    if (head >> 32 == inside::kUpdateMark) {
      if (sink.traced_time().drops(time)) return true;
      foreign_ += !late_.add(record.bytes, planner_.clauses(), check_of(process));
      return !late_.wants_reading();
    }
    if (head >> 32 == inside::kClauseMark) return deliver_clause(process, record, static_cast<uint32_t>(head), time, sink);
    if (group_of(head) == kChangesGroup) return meet(process, record.bytes, sink);
    if (!process.has_cookie(cookie_of(head))) return foreign_++, true;
    return deliver_record(process, record, time, sink);
  }

  bool deliver_clause(AgentTarget& process, const LaneRecord& record, uint32_t number, uint64_t time, EventSink& sink) {
    const auto found = process.records.contains(number) ? planner_.records().read(record.bytes, number) : std::nullopt;
    if (!found) return foreign_++, true;
    if (sink.traced_time().drops(time)) return true;
    ClauseSink clause(sink, found->clause);
    const uint64_t fired = found->time_of(time, found->is_seen ? read_clock(CLOCK_MONOTONIC) : time);
    const bool wants_more = deliver_record(process, {record.ticks, found->record}, fired, clause);
    if (found->ends_run && !sink.has_ended())
      process.agent.place_variables(inside::VariablesIn::thread);  // its own record was lost
    return wants_more;
  }

  bool deliver_record(AgentTarget& process, const LaneRecord& record, uint64_t time, EventSink& sink) {
    uint64_t head = 0;
    std::memcpy(&head, record.bytes.data(), sizeof head);
    const RecordLayout& layout = delivery_.group(group_of(head)).layout;
    if (record.bytes.size() < layout.least) return foreign_++, true;
    const auto put = [&](uint32_t at, uint64_t value) { std::memcpy(record.bytes.data() + at, &value, sizeof value); };
    if (cpu_of(head) >= cpus_) put(0, cookie_of(head));
    if (layout.time != 0) put(layout.time, time);
    if (layout.thread != 0) {
      uint64_t ids = 0;
      std::memcpy(&ids, record.bytes.data() + layout.thread, sizeof ids);
      const auto pid = static_cast<int32_t>(ids >> 32);
      const bool is_known = process.owns(pid) || is_forked(process, pid);
      if (is_known && !process.owns(pid)) tell_of(process, process.agent.pid(), pid, sink);
      const pid_t tid = process.ids.of_dvm(static_cast<uint32_t>(ids));
      put(layout.thread, static_cast<uint64_t>(is_known ? pid : process.agent.pid()) << 32 | static_cast<uint32_t>(tid));
    }
    return delivery_.deliver(record.bytes, sink);
  }

  // A process that has ended meanwhile is believed to have been one; nothing can be read of it.
  bool is_forked(const AgentTarget& process, int32_t pid) const {
    if (!follows_ || pid <= 0) return false;
    if (start_time(pid) == 0 || had_lanes_.contains(pid) || has_lanes_of(pid, getpid())) return true;
    return process.owns(parent_of(pid));
  }

  // A stub says that it runs in a process that was forked.
  bool meet(AgentTarget& process, std::span<const std::byte> record, EventSink& sink) {
    uint64_t words[3] = {};
    if (record.size() < sizeof words) return foreign_++, true;
    std::memcpy(words, record.data(), sizeof words);
    const auto parent = static_cast<int32_t>(words[1]), pid = static_cast<int32_t>(words[2]);
    if (process.owns(pid) || !is_forked(process, pid)) return true;
    return tell_of(process, process.owns(parent) ? parent : process.agent.pid(), pid, sink);
  }

  bool tell_of(AgentTarget& process, int32_t parent, int32_t pid, EventSink& sink) {
    process.forked.insert(pid);
    const uint64_t words[] = {uint64_t{kChangesGroup} << 32, static_cast<uint64_t>(parent), static_cast<uint64_t>(pid)};
    return delivery_.deliver(std::as_bytes(std::span(words)), sink);
  }

  uint32_t ring_bytes_;  // of a thread of a process that is attached to next
  Delivery delivery_;
  AgentPlanner planner_;
  TscClock clock_;
  ThreadGlobals globals_;
  LateUpdates late_;
  ThreadAggregations aggregations_{[this](const AggregationSource::Visit& each) { collect_aggregations(each); }, late_};
  ClausePlaces places_;
  AgentTargets processes_;
  LostProbes losses_;
  YieldedProbes yielded_;
  std::vector<LoadedIn> loads_;  // processes that have mapped files before the last call of take_lost()
  ExecHolds execs_;
  std::map<pid_t, unsigned> renewed_;  // how often probes of a process have come late
  std::vector<std::string> notes_;
  bool follows_ = false;
  std::unordered_set<pid_t> had_lanes_;  // when the probes were taken off
  uint64_t looked_ = 0;                  // for processes that were forked
  bool uses_time_ = false;               // a clause that runs in threads does
  bool has_stacks_ = false;              // likewise, as keys
  bool has_begun_ = false;               // BEGIN has fired
  SeenAddresses addresses_;              // of these stacks, which are to be named
  uint64_t found_ = 0;                   // bytes, by the last poll()
  uint64_t foreign_ = 0;                 // records that no stub of dvm's writes
  uint64_t freed_ = 0;
  std::unordered_set<pid_t> probed_;  // processes with probes, here or elsewhere
  GoneThreads gone_;
  LeftPrograms left_;
  uint64_t cpus_ = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_CONF));
};

}  // namespace

std::unique_ptr<Instrument> make_agent_instrument(size_t ring_bytes, bool by_breakpoints) {
  return std::make_unique<AgentInstrument>(ring_bytes, by_breakpoints);
}

}  // namespace dvm::runtime
