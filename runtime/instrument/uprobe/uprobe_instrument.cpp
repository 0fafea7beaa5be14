// The instrument: groups of sites, their programs and links, and the poll. Tested by tests/unit/instrument/uprobe_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/clock.h"
#include "runtime/agent/placing_lock.h"
#include "runtime/instrument/late_loads.h"
#include "runtime/instrument/pace.h"
#include "runtime/instrument/uprobe/agent_jumps.h"
#include "runtime/instrument/uprobe/attach.h"
#include "runtime/instrument/uprobe/capture_program.h"
#include "runtime/instrument/uprobe/cpu_clock.h"
#include "runtime/instrument/uprobe/delivery.h"
#include "runtime/instrument/uprobe/exec_bell.h"
#include "runtime/instrument/uprobe/exec_watch.h"
#include "runtime/instrument/uprobe/followed.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/load_watch.h"
#include "runtime/instrument/uprobe/pid_namespace.h"
#include "runtime/instrument/uprobe/return_losses.h"
#include "runtime/instrument/uprobe/return_review.h"
#include "runtime/instrument/uprobe/ring.h"
#include "runtime/instrument/uprobe/sample_interval.h"
#include "runtime/instrument/uprobe/shared_code.h"
#include "runtime/instrument/uprobe/site_plan.h"
#include "runtime/instrument/uprobe/thread_watch.h"
#include "runtime/instrument/uprobe/tracepoints.h"
#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/process/cpu_topology.h"
#include "runtime/process/process.h"

namespace dvm::runtime {
namespace {

constexpr size_t kStackRingBytes = 32u << 20;  // where records hold stacks
constexpr size_t kBellBytes = 64u << 10;
constexpr std::string_view kNoFirstThread =
    "the kernel places no uprobes once the first thread of a process has ended; use -x followfork";

// Uprobes that can share links, by file and group.
using UprobeSets = std::map<std::tuple<std::string, bool, uint16_t>, UprobeSet>;  // path, at exits, group

class UprobeInstrument final : public CountingInstrument,
                               public FollowsProcesses,
                               public WatchesLoads,
                               public TellsNotes,
                               public CountsLosses,
                               public LosesProbes {
 public:
  explicit UprobeInstrument(UprobeOptions options, bool only_counts = false) : options_(options), only_counts_(only_counts) {}
  ~UprobeInstrument() override { UprobeInstrument::disable(); }

  std::string_view name() const override { return "uprobe"; }
  std::string_view refusal(const Probe& probe) const override { return uprobe_refusal(probe); }

  void preview(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    refuse_without_rights(probes, refused);
  }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    if (probes.empty()) return {};
    forget_ended();
    const size_t before = links_.size();
    Status status = try_enable(probes, refused, {});
    review_.forget(refused);
    if (!status) is_on_ ? detach(links_, before) : disable();  // what was on before stays
    is_on_ |= static_cast<bool>(status);
    return status;
  }

  Status follow(int32_t pid) override {
    if (!followed_) {
      if (Status status = make_ring(std::max(options_.ring_bytes, kStackRingBytes)); !status) return status;
      auto followed = Followed::make(maps());
      if (!followed) return followed.error();
      followed_ = std::move(*followed);
    }
    return followed_->add(pid);
  }

  bool has_descendants() override { return followed_ && followed_->has_descendants(); }

  Status watch(const LinkerSite& linker) override {
    if (!bell_) {
      auto bell = Ring::make(kBellBytes);
      if (!bell) return bell.error();
      bell_ = std::move(*bell);
    }
    if (Status watched = linker.path.empty() ? Status() : watch_linker(linker); !watched) return watched;
    is_on_ = true;
    return unreported_.watch(linker, maps(linker.pid).followed, bell_->ring_fd());
  }

  std::vector<LoadedIn> take_loads() override {
    std::vector<LoadedIn> all;
    for (const auto& watch : watches_) watch->take(all);  // of programs that have rung before
    if (bell_) bell_->consume([this](std::span<const std::byte> record) { return unreported_.note(record), true; });
    unreported_.take(all, notes_);
    for (const LoadedIn& load : all) note_first_thread(load.pid);
    return all;
  }

  void settle() override {
    for (const auto& watch : watches_) watch->answer();
    review_.finish();
  }

  Result<uint64_t> poll(EventSink& sink) override {
    if (!ring_) return uint64_t{0};
    delivery_.set_wall_offset(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC));
    if (scheduler_clock_) delivery_.set_cpu_offset(scheduler_clock_->offset());
    const uint64_t before = ring_->consumed();
    const uint64_t count =
        ring_->consume([&](std::span<const std::byte> record) { return delivery_.deliver(record, sink); },
                       [&](std::span<const std::byte> record) { return sink.admits(delivery_.time_of(record)); });
    found_ = ring_->consumed() - before;
    return count;
  }

  Pacing pacing() const override {
    return {.descriptor = bell_ ? bell_->ring_fd() : -1,
            .backlog = ring_ ? static_cast<double>(found_) / wanted_bytes(ring_->bytes()) : 0};
  }
  Abilities abilities() override {
    return {.follows = this, .watches = this, .notes = this, .losses = this, .loses = review_.has_any() ? this : nullptr};
  }

  // Uretprobes that are not safe any more become uprobes at the exits, or are lost.
  std::vector<LostProbe> take_lost(std::span<const LoadedIn> loads) override {
    const ReturnReview::Unsafe unsafe = review_.take_unsafe(loads);
    if (unsafe.probes.empty()) return {};
    review_.take_off(take_returns(links_, unsafe.processes), unsafe);
    const size_t before = links_.size();
    std::vector<Refused> refused;
    const Status status = try_enable(unsafe.probes, refused, unsafe.sites);
    if (!status) detach(links_, before);
    return lost_of(unsafe.probes, refused, status);
  }

  uint64_t drops() const override { return ring_ ? ring_->drops() : 0; }
  uint64_t drops_on(uint32_t cpu) const override { return ring_ && cpu < kCpuCounters ? ring_->drops(cpu) : 0; }
  uint64_t missed_returns() const override { return losses_.count(); }
  uint64_t count_of(const Probe& probe) const override {
    return counts_ && probe.id < kProbeCounters ? counts_.word(probe.id) : 0;
  }

  std::vector<std::string> take_notes() override {
    delivery_.note_cut_stacks(notes_);
    unreported_.take_notes(notes_);
    note_execs();
    note_unanswered();
    return std::exchange(notes_, {});
  }

  void disable() override {
    note_unanswered();
    for (const auto& watch : watches_) {
      watch->let_go();  // the kernel waits for programs that run
      links_.push_back({watch->take_link()});
    }
    detach(links_);
    review_.finish();
    tracepoints_.detach();
    if (followed_) followed_->detach();
    watches_.clear();
    unreported_.end_watches();
    clocks_.clear();
    thread_watch_.reset();
    is_on_ = false;
    programs_.clear();
    std::fill(group_programs_.begin(), group_programs_.end(), -1);  // no later program is mistaken for one of these
  }

 private:
  Status watch_linker(const LinkerSite& linker) {
    const PlacingLock lock(followed_ ? std::set<pid_t>() : std::set<pid_t>{linker.pid});
    const auto refused = [&](bool in_all) { return AgentJumps(in_all).refusal(linker.pid, linker.path, linker.offset); };
    if (const std::string_view here = refused(false); !here.empty()) return Error{std::string(here)};
    const std::string_view elsewhere = followed_ ? refused(true) : "";
    auto watch = LoadWatch::make(linker, elsewhere.empty() ? maps(linker.pid).followed : -1, bell_->ring_fd());
    if (!watch) return watch.error();
    if (!elsewhere.empty())
      notes_.push_back(fmt::format("only libraries that process {} itself opens are noticed: {}", linker.pid, elsewhere));
    watches_.push_back(std::move(*watch));
    return {};
  }

  struct ProgramEntry {
    CaptureNeeds needs;
    SiteShape shape;
    int32_t root = 0;  // whose, with its descendants; 0: of the process that it is attached to
    FileDescriptor program;
  };

  // Unless there is one.
  Status make_ring(size_t bytes) {
    if (ring_) return {};
    auto ring = Ring::make(bytes);
    if (!ring) return ring.error();
    ring_ = std::move(*ring);
    return {};
  }

  // sites: of the probes; empty: all.
  Status try_enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused,
                    const std::set<const UprobeSite*>& sites) {
    const auto takes_stack = [](const EnabledProbe& probe) {
      const CaptureNeeds& needs = probe.needs;
      return (needs.frames > 1 && needs.stack_bytes != 0) || std::max(needs.frames, needs.kernel_frames) > kKnownFrames;
    };
    const bool is_large = std::any_of(probes.begin(), probes.end(), takes_stack);
    if (Status status = make_ring(std::max(options_.ring_bytes, is_large ? kStackRingBytes : 0)); !status) return status;
    if (only_counts_ && !counts_)
      if (Status made = make_counters(); !made) return made;
    watch_threads(probes);
    make_kept(probes);
    std::vector<PlannedSite> places = possible(plan_sites(probes, refused, code_, followed_ != nullptr), refused);
    if (!sites.empty()) std::erase_if(places, [&](const PlannedSite& place) { return !sites.contains(place.site); });
    UprobeSets sets;
    for (const PlannedSite& place : places)
      if (Status status = plan(place, sets, refused); !status) return status;
    for (const EnabledProbe& enabled : probes)
      if (Status status = plan_other(enabled, refused); !status) return status;
    if (Status status = attach(places, sets, refused); !status) return status;
    return tracepoints_.attach(maps(), task_layout());
  }

  // Once a clause reads memory at an address that an earlier firing has kept. Without the map it reads that late.
  void make_kept(std::span<const EnabledProbe> probes) {
    if (kept_ || std::none_of(probes.begin(), probes.end(), uses_kept_words)) return;
    auto map = create_kept_map();
    if (map)
      kept_ = std::move(*map);
    else
      notes_.push_back("memory at addresses that earlier firings have kept is read late: " + map.error().message);
  }

  // Once a clause has thread-local variables.
  void watch_threads(std::span<const EnabledProbe> probes) {
    const auto has_variables = [](const EnabledProbe& one) { return one.has_thread_variables; };
    if (only_counts_ || thread_watch_ || std::none_of(probes.begin(), probes.end(), has_variables)) return;
    auto watch = ThreadWatch::make(maps());
    if (watch)
      thread_watch_ = std::move(*watch);
    else
      notes_.push_back("thread-local variables pass to later threads with the same id: " + watch.error().message);
  }

  // A probe of which one place is refused has none.
  std::vector<PlannedSite> possible(std::vector<PlannedSite> places, std::vector<Refused>& refused) const {
    std::map<int32_t, SharedCode> shared;
    std::map<int32_t, bool> out_of_reach;
    std::map<const Probe*, std::string_view> refusals;
    for (const PlannedSite& place : places) {
      const UprobeSite& site = *place.site;
      const bool is_shared = shared.try_emplace(site.pid, site.pid).first->second.has(site.path, place.offset);
      std::string_view refusal = is_shared ? kNoUprobe : "";
      const auto [is_far, is_new] = out_of_reach.try_emplace(site.pid);
      if (is_new) is_far->second = is_out_of_reach(site.pid);
      if (refusal.empty() && is_far->second) refusal = kNoFirstThread;
      if (!refusal.empty()) refusals.try_emplace(place.enabled->probe, refusal);
    }
    for (const auto& [probe, refusal] : refusals) refused.push_back({probe, std::string(refusal)});
    std::erase_if(places, [&](const PlannedSite& place) { return refusals.contains(place.enabled->probe); });
    return places;
  }

  // The programs that count missed returns go first. If the kernel refuses one, it refuses the return as well. Others wait for
  // the lock, so all that takes long has been done before.
  Status attach(std::span<const PlannedSite> places, UprobeSets& sets, std::vector<Refused>& refused) {
    if (places.empty()) return {};
    std::set<pid_t> pids;
    for (const PlannedSite& place : places)
      if (!followed_) pids.insert(place.site->pid);
    const PlacingLock lock(pids);
    const std::set<const Probe*> in_the_way = AgentJumps(followed_ != nullptr).refuse(places, refused);
    std::map<std::string, UprobeSet> losses = losses_.take();
    std::vector<UprobeSet*> in_order;
    for (auto& [path, set] : losses) in_order.push_back(&set);
    // The kernel runs the latest of several probes on one instruction first, so an entry comes before the instruction itself,
    // and a return after it.
    for (auto set = sets.rbegin(); set != sets.rend(); ++set) in_order.push_back(&set->second);
    for (UprobeSet* set : in_order) set->leave_out(in_the_way);
    return attach_uprobes(in_order, links_, refused);
  }

  Status make_counters() {
    auto counts = SharedMap::make("dvm_counts", kProbeCounters * sizeof(uint64_t));
    if (!counts) return counts.error();
    counts_ = *std::move(counts);
    return {};
  }

  // A probe that fires in any process may find any code on the stack. The processes that a predicate names are learned, also
  // where it is that of another clause: they may end at once.
  CaptureNeeds with_stack(CaptureNeeds needs, const WantedProcesses& wanted, SiteKind kind) {
    if (needs.frames <= known_frames(kind)) needs.stack_bytes = 0;
    if (needs.stack_bytes == kWhereNeeded) needs.stack_bytes = usual_stack_bytes(kind);
    named_.insert(wanted.pids.begin(), wanted.pids.end());
    walks_ |= needs.frames != 0;
    if (walks_)
      for (const int32_t pid : named_) delivery_.unwinder().learn(pid);
    return needs;
  }

  Status plan(const PlannedSite& place, UprobeSets& sets, std::vector<Refused>& refused) {
    const UprobeSite& site = *place.site;
    EnabledProbe enabled = *place.enabled;
    delivery_.choose_stack(enabled.needs, site.pid, place.shape.kind);
    enabled.needs.thread |= followed_ != nullptr;  // says which process it was
    const auto group = find_group(enabled, place.shape, site.pid, refused);
    if (!group) return group.error();
    if (!*group) return {};
    UprobeSet& set = sets[{site.path, !place.is_return && place.fired_at.exit, **group}];
    watch_execs(site.pid);
    note_semaphore(place);
    set.path = site.path;
    set.pid = followed_ ? 0 : site.pid;
    set.is_return = place.is_return;
    set.program = group_programs_[**group];
    set.add(place.offset, make_cookie(number_of(place), **group), site.semaphore, place.enabled->probe);
    if (place.is_return) review_.add(place);
    return place.is_return && !only_counts_ ? losses_.add(place, maps(site.pid), notes_) : Status{};
  }

  // What is kept for processes takes file descriptors.
  void forget_ended() {
    detach_ended(links_);
    std::erase_if(execs_, [](const auto& one) { return one.second && !one.second->has_lost_uprobes() && is_gone(one.first); });
  }

  // Probes enabled after the exec, for a load reported before it, do fire.
  void note_execs() {
    for (const auto& [pid, watch] : execs_)
      if (watch && watch->has_lost_uprobes())
        notes_.push_back(
            fmt::format("process {} executed a program in a thread that was not its first: probes enabled in it before "
                        "have not fired since; -x followfork keeps them",
                        pid));
    std::erase_if(execs_, [](const auto& one) { return one.second && one.second->has_lost_uprobes(); });
  }

  void note_unanswered() {
    uint64_t slow = 0, unheld = 0;
    for (const auto& watch : watches_) (watch->waits() ? slow : unheld) += watch->take_unanswered();
    if (slow != 0) notes_.push_back(late_loads_text(slow));
    if (unheld != 0) notes_.push_back(late_loads_text(unheld, kLetsNoneWait));
  }

  // The kernel looks for the memory of a process in its first thread when it places uprobes.
  bool is_out_of_reach(int32_t pid) const { return !followed_ && has_lost_first_thread(pid); }

  void note_first_thread(int32_t pid) {
    if (is_out_of_reach(pid) && out_of_reach_.insert(pid).second)
      notes_.push_back(fmt::format("process {}: {}; those in files that it maps from now on do not fire", pid, kNoFirstThread));
  }

  // The kernel raises a semaphore by its place in the file.
  void note_semaphore(const PlannedSite& place) {
    if (place.site->semaphore_address == 0 || place.site->semaphore != 0) return;
    const Probe& probe = *place.enabled->probe;
    if (!unraised_.insert(&probe).second) return;
    notes_.push_back(
        fmt::format("{}:{}:{}:{}: its semaphore lies outside of its file, where the kernel cannot raise it; if the program tests "
                    "the semaphore, the probe does not fire; -x backend=agent can raise it",
                    probe.provider, probe.module, probe.function, probe.name));
  }

  // Without the watch nothing but its notice is missing.
  void watch_execs(int32_t pid) {
    const auto [entry, is_new] = execs_.try_emplace(pid);
    if (!is_new || followed_) return;
    if (auto watch = ExecWatch::make(pid)) entry->second = std::move(*watch);
  }

  uint32_t number_of(const PlannedSite& place) {
    return only_counts_ ? place.fired_at.probe_id : delivery_.number(place.fired_at);
  }

  Status plan_other(EnabledProbe enabled, std::vector<Refused>& refused) {
    if (std::holds_alternative<UprobeSite>(enabled.probe->site)) return {};
    const auto* timer = std::get_if<TimerSite>(&enabled.probe->site);
    enabled.needs = with_stack(std::move(enabled.needs), enabled.wanted, timer ? SiteKind::timer : SiteKind::tracepoint);
    if (std::holds_alternative<TracepointSite>(enabled.probe->site)) {
      if (enabled.needs.vtime && !start_scheduler_clock(*enabled.probe, refused)) return {};
      return tracepoints_.plan(enabled, delivery_, refused);
    }
    if (!timer) return {};
    const auto group = find_group(enabled, SiteKind::timer, 0, refused);
    if (!group) return group.error();
    if (!*group) return {};
    return start_clocks(*timer, group_programs_[**group], make_cookie(enabled.probe->id, **group));
  }

  // False: refused, and the reason said.
  bool start_scheduler_clock(const Probe& probe, std::vector<Refused>& refused) {
    if (scheduler_clock_) return true;
    auto clock = SchedulerClock::make();
    if (clock)
      scheduler_clock_ = std::move(*clock);
    else if (refused.empty() || refused.back().probe != &probe)  // of another place
      refused.push_back({&probe, "vtimestamp is not available: " + clock.error().message});
    return scheduler_clock_ != nullptr;
  }

  // None: the probe was refused.
  Result<std::optional<uint16_t>> find_group(const EnabledProbe& enabled, const SiteShape& shape, int32_t pid,
                                             std::vector<Refused>& refused) {
    if (enabled.needs.vtime && !start_scheduler_clock(*enabled.probe, refused)) return std::optional<uint16_t>();
    const CaptureNeeds needs = possible_needs(enabled.needs, shape);
    const auto group = find_group(needs, shape, pid, needs.stack_bytes ? enabled.wanted.pids : std::vector<int32_t>());
    if (!group) return group.error();
    return std::optional(*group);
  }

  Result<uint16_t> find_group(const CaptureNeeds& needs, const SiteShape& shape, int32_t pid,
                              const std::vector<int32_t>& unwound) {
    auto program = find_program(needs, shape, maps(pid));
    if (!program) return program.error();
    for (size_t i = 0; i < group_programs_.size(); i++)
      if (group_programs_[i] == *program && delivery_.group(i).is_of(pid, unwound)) return static_cast<uint16_t>(i);
    if (Status room = delivery_.check_room(); !room) return room.error();
    const size_t group = delivery_.add(make_layouts(needs, shape), pid, unwound);
    group_programs_.resize(group, -1);  // tracepoints have groups too
    group_programs_.push_back(*program);
    return static_cast<uint16_t>(group);
  }

  Result<int> find_program(const CaptureNeeds& needs, const SiteShape& shape, const ProgramMaps& maps) {
    for (const ProgramEntry& entry : programs_)
      if (entry.shape == shape && entry.needs == needs && entry.root == maps.root) return entry.program.get();
    const RecordLayouts layouts = make_layouts(needs, shape);
    auto program = load_program(make_capture_program(layouts, maps, own_pid_namespace(), task_layout()), layouts.first);
    if (!program) return program.error();
    return programs_.emplace_back(ProgramEntry{needs, shape, maps.root, std::move(*program)}).program.get();
  }

  // Maps for a probe of this process; 0 for a probe of no process.
  ProgramMaps maps(int32_t pid = 0) const {
    ProgramMaps maps{ring_ ? ring_->ring_fd() : -1, ring_ ? ring_->drops_fd() : -1, counts_ ? counts_.fd() : -1, kept_.get()};
    if (followed_ && pid != 0) maps.followed = followed_->map(), maps.root = pid;
    return maps;
  }
  TaskLayout task_layout() const { return scheduler_clock_ ? scheduler_clock_->layout() : TaskLayout{}; }

  Status start_clocks(const TimerSite& timer, int program, uint64_t cookie) {
    for (const int cpu : online_cpus()) {
      auto clock = link_cpu_clock(cpu, sample_interval(timer.period_ns), program, cookie);
      if (!clock) return clock.error();
      clocks_.push_back(std::move(*clock));
    }
    return {};
  }

  UprobeOptions options_;
  bool only_counts_;
  SharedMap counts_;  // by the probe's id
  bool is_on_ = false;
  std::unique_ptr<Ring> ring_;
  uint64_t found_ = 0;               // bytes, by the last poll()
  Delivery delivery_;                // its groups are kept after disable(): what is in the ring needs them
  std::vector<int> group_programs_;  // by group
  std::vector<ProgramEntry> programs_;
  FileDescriptor kept_;  // once words are kept
  std::vector<UprobeLink> links_;
  std::vector<ClockEvent> clocks_;
  Tracepoints tracepoints_;
  ModuleCodes code_;  // of files with probes, for processes that follow
  ReturnLossSets losses_;
  ReturnReview review_;
  std::vector<std::string> notes_;
  std::set<const Probe*> unraised_;     // their semaphores are told of
  std::set<int32_t> out_of_reach_;      // processes that are told of
  std::unique_ptr<Followed> followed_;  // if forks are followed
  std::unique_ptr<Ring> bell_;          // that they ring
  std::vector<std::unique_ptr<LoadWatch>> watches_;
  UnreportedExecs unreported_;
  std::map<int32_t, std::unique_ptr<ExecWatch>> execs_;  // by process
  std::unique_ptr<ThreadWatch> thread_watch_;            // once there are thread-local variables
  std::set<int32_t> named_;                              // by predicates of probes that fire in any process
  bool walks_ = false;                                   // such a probe captures stacks
  std::unique_ptr<SchedulerClock> scheduler_clock_;      // once vtimestamp is wanted
};

}  // namespace

std::unique_ptr<Instrument> make_uprobe_instrument(UprobeOptions options) { return std::make_unique<UprobeInstrument>(options); }

std::unique_ptr<CountingInstrument> make_counting_instrument() {
  return std::make_unique<UprobeInstrument>(UprobeOptions{.ring_bytes = 1}, true);
}

}  // namespace dvm::runtime
