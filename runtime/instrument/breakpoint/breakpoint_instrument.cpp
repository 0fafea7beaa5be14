// The instrument: threads, their breakpoints, and what becomes of their stops.
// Tested by tests/unit/instrument/breakpoint_test.cpp and tests/runtime/scenarios/test_unprivileged.py.
#include <fmt/format.h>
#include <linux/audit.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/clock.h"
#include "runtime/agent/detach.h"
#include "runtime/instrument/breakpoint/breakpoint.h"
#include "runtime/instrument/breakpoint/calls.h"
#include "runtime/instrument/breakpoint/plan.h"
#include "runtime/instrument/breakpoint/stopped_thread.h"
#include "runtime/process/single_step.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kPrice =
    "without BPF, firings at breakpoints and system calls stop their thread until dvm has handled them, 25 to 50 us each time; "
    "-v "
    "names the probes, and why an agent does not take them";
constexpr std::string_view kIgnoresExits =
    "breakpoints ignore -x return=exits: a return fires at the instruction behind the call";
constexpr std::string_view kIgnoresUnwinding =
    "breakpoints ignore -x ustackunwind=0: stacks are found by call frame information, from a copy of the stack";
constexpr int kMostStops = 256;  // until the session is asked whether it goes on

struct TracedThread {
  pid_t pid = 0;
  std::vector<DebugRegister> at_sites;
  Calls calls;
  uint64_t seen = 0;                   // hits at sites
  std::optional<siginfo_t> kept_back;  // a SIGURG that it gets behind the instruction that it executes

  bool has_unseen() const {
    uint64_t hits = 0;
    for (const DebugRegister& one : at_sites) hits += one.hits();
    return hits > seen;
  }

  bool has(uint64_t address) const {
    return calls.watches(address) ||
           std::any_of(at_sites.begin(), at_sites.end(), [&](const DebugRegister& it) { return it.address() == address; });
  }
};

constexpr std::string_view kFollowsNone = "breakpoints do not follow forks";

// proc has probes at system calls too, but those tell what only the kernel knows.
bool is_system_calls(const Probe& probe) {
  return std::holds_alternative<TracepointSite>(probe.site) && (probe.provider == "syscall" || probe.provider == "lx-syscall");
}

class BreakpointInstrument final : public Instrument,
                                   public HoldsThreads,
                                   public FollowsProcesses,
                                   public TellsNotes,
                                   public LosesProbes {
 public:
  ~BreakpointInstrument() override { BreakpointInstrument::disable(); }

  std::string_view name() const override { return "breakpoint"; }

  std::string_view refusal(const Probe& probe) const override {
    const bool is_in_process = std::holds_alternative<UprobeSite>(probe.site);
    if (is_in_process && must_follow_) return kFollowsNone;
    const bool is_taken = is_in_process || is_system_calls(probe);
    return is_taken ? "" : "it fires at instructions and system calls only";
  }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    if (probes.empty()) return {};
    if (!signal_) signal_.emplace();
    Status status = try_enable(probes, refused);
    if (!status) disable();
    return status;
  }

  Result<uint64_t> poll(EventSink& sink) override {
    if (!signal_) return uint64_t{0};
    signal_->clear();
    delivery_.set_wall_offset(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC));
    const uint64_t before = fired_;
    wants_more_ = true;
    for (const pid_t tid : std::exchange(waiting_, {})) go_on({.tid = tid}, 0, pace_of(tid));
    for (int count = 0; count < kMostStops && wants_more_ && see_next(sink); count++) {
    }
    return fired_ - before;
  }

  Pacing pacing() const override { return {.descriptor = signal_ ? signal_->descriptor() : -1}; }
  Abilities abilities() override { return {.follows = this, .holds = this, .notes = this, .loses = this}; }
  Status follow(int32_t) override {
    must_follow_ = true;
    return Error{std::string(kFollowsNone)};
  }
  bool has_descendants() override { return false; }
  bool holds(int32_t pid) const override { return processes_.contains(pid); }
  uint64_t drops() const override { return dropped_; }
  std::vector<std::string> take_notes() override {
    delivery_.note_cut_stacks(notes_, "32k");
    return std::exchange(notes_, {});
  }

  // None: breakpoints follow their files.
  std::vector<LostProbe> take_lost(std::span<const LoadedIn> loads) override {
    for (const LoadedIn& load : loads)
      if (const auto found = processes_.find(load.pid); found != processes_.end() && planner_.move(load.pid, found->second))
        move_breakpoints(load.pid, found->second);
    return {};
  }

  void disable() override {
    uint64_t in_flight = release_kept();
    std::set<pid_t> with_agents;  // which stop them next
    for (const auto& [pid, process] : processes_)
      if (has_lanes_of(pid, getpid())) with_agents.insert(pid);
    for (auto& [tid, thread] : threads_) forget_registers(thread);
    for (auto& [tid, thread] : threads_)
      let_go(tid,
             {.pace = pace_of(tid),
              .may_stay = !with_agents.contains(thread.pid) && !thread.kept_back,
              .steps = thread.kept_back.has_value()},
             [&](const ThreadStop& stop) { return last_signal(thread, stop, in_flight); });
    for (const pid_t tid : std::exchange(started_, {})) let_go(tid, {}, signal_of);
    threads_.clear();
    processes_.clear();
    waiting_.clear();
    if (hits_ > seen_ + in_flight) dropped_ += hits_ - seen_ - in_flight;
    hits_ = seen_ = 0;
  }

 private:
  Status try_enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
    for (const EnabledProbe& enabled : probes) {
      if (Status status = planner_.add(enabled, processes_, refused); !status) return status;
      note_ignored(enabled);
    }
    planner_.forget_objects();
    for (const auto& [pid, process] : processes_) {
      room_.resize(largest_record());
      if (Status status = check_room(pid, process); !status) return status;
      if (Status status = hold(pid); !status) return status;
    }
    if (!threads_.empty() && told_.insert(kPrice).second) notes_.emplace_back(kPrice);
    return {};
  }

  // Options, each once.
  void note_ignored(const EnabledProbe& enabled) {
    const auto* site = std::get_if<UprobeSite>(&enabled.probe->site);
    const auto note = [&](bool is_ignored, std::string_view text) {
      if (is_ignored && told_.insert(text).second) notes_.emplace_back(text);
    };
    note(site != nullptr && site->is_return && enabled.returns == ReturnBy::exits, kIgnoresExits);
    note(enabled.needs.frames != 0 && enabled.needs.stack_bytes == 0, kIgnoresUnwinding);
  }

  static Status check_room(pid_t pid, const TracedProcess& process) {
    if (process.registers() <= kDebugRegisters) return {};
    return Error{fmt::format(
        "{} places of process {} would be probed{}, but without privileges there are breakpoints for {}; with CAP_BPF and "
        "CAP_PERFMON there is no such limit",
        process.places(), pid, process.has_returns ? ", and one more is needed for returns" : "", kDebugRegisters)};
  }

  size_t largest_record() const {
    size_t words = 0;
    for (size_t group = 0; group < delivery_.groups(); group++)
      words = std::max<size_t>(words, delivery_.group(group).layout.size / 8);
    return words;
  }

  // Until no thread is new: each that is held makes none that is not.
  Status hold(pid_t pid) {
    for (bool any = true; any;) {
      any = false;
      for (const pid_t tid : threads_of(pid)) {
        if (threads_.contains(tid)) continue;
        any = true;
        if (Status held = hold(pid, tid); !held) return held;
      }
    }
    for (auto& [tid, thread] : threads_)
      if (thread.pid == pid)
        if (Status set = set_breakpoints(pid, tid); !set) return set;
    return {};
  }

  Status hold(pid_t pid, pid_t tid) {
    const auto is_waiting = hold_thread(tid);
    if (!is_waiting) return Error{fmt::format("cannot trace process {}: {}", pid, is_waiting.error().message)};
    threads_[tid].pid = pid;
    if (*is_waiting)
      waiting_.push_back(tid);
    else if (pace_of(tid) != Pace::run)
      interrupt_thread(tid);
    return {};
  }

  // At all sites of the process where the thread has none yet.
  Status set_breakpoints(pid_t pid, pid_t tid) {
    TracedThread& thread = threads_[tid];
    thread.pid = pid;
    const TracedProcess& process = processes_[pid];
    for (const auto& [address, firers] : process.sites) {
      const auto is_there = [at = address](const DebugRegister& it) { return it.address() == at; };
      if (std::any_of(thread.at_sites.begin(), thread.at_sites.end(), is_there)) continue;
      DebugRegister made = DebugRegister::set(tid, address);
      if (!made && errno == ESRCH) return {};
      if (!made) return Error{"cannot set a breakpoint: " + debug_register_reason(errno)};
      thread.at_sites.push_back(std::move(made));
    }
    return {};
  }

  void move_breakpoints(pid_t pid, const TracedProcess& process) {
    for (const pid_t tid : held()) {
      TracedThread& thread = threads_[tid];
      if (thread.pid != pid) continue;
      std::erase_if(thread.at_sites, [&](const DebugRegister& one) {
        if (process.sites.contains(one.address())) return false;
        hits_ += one.hits(), thread.seen -= std::min(thread.seen, one.hits());
        return true;
      });
      if (!set_breakpoints(pid, tid)) dropped_++;
    }
  }

  Pace pace_of(pid_t tid) const {
    const auto thread = threads_.find(tid);
    const auto process = processes_.find(thread == threads_.end() ? 0 : thread->second.pid);
    return process == processes_.end() ? Pace::run : process->second.pace();
  }

  std::vector<pid_t> held() const {
    std::vector<pid_t> tids;
    for (const auto& [tid, thread] : threads_) tids.push_back(tid);
    return tids;
  }

  // Firings that an agent has written come before this one. If the sink has no room for them, the thread stays stopped.
  bool see_next(EventSink& sink) {
    const auto stop = kept_ ? std::exchange(kept_, std::nullopt) : next_stop([this] { return held(); });
    if (!stop) return false;
    if (may_fire(*stop) && !sink.admits(read_clock(CLOCK_MONOTONIC))) return kept_ = stop, false;
    see(*stop, sink);
    return true;
  }

  bool may_fire(const ThreadStop& stop) const {
    const auto thread = threads_.find(stop.tid);
    if (thread == threads_.end() || stop.is_end || thread->second.kept_back) return false;
    return stop.is_call ? cookies_at_call(stop.tid) != nullptr : is_hit(stop);
  }

  void see(const ThreadStop& stop, EventSink& sink) {
    if (stop.is_end) return end(stop.tid, sink);
    if (!threads_.contains(stop.tid) && !is_taken_up(stop)) return;
    note_start(stop);
    if (stop.event == PTRACE_EVENT_EXEC) return leave(threads_[stop.tid].pid);
    if (threads_[stop.tid].kept_back) return end_step(stop, sink);
    const bool hit = is_hit(stop);
    if (stop.is_call) fire_call(stop.tid, sink);
    if (hit) fire(stop.tid, sink);
    if (!hit && signal_of(stop) == SIGURG && has_hit(stop.tid)) return step_over(stop, sink);
    go_on(stop, hit ? 0 : signal_of(stop), pace_of(stop.tid));
  }

  static int signal_of(const ThreadStop& stop) { return stop.event == 0 && !stop.is_call ? stop.signal : 0; }

  // The thread that this one has started is traced, and stops before it runs.
  void note_start(const ThreadStop& stop) {
    unsigned long started = 0;
    if (stop.event != PTRACE_EVENT_CLONE || ptrace(PTRACE_GETEVENTMSG, stop.tid, 0, &started) != 0) return;
    if (const auto tid = static_cast<pid_t>(started); !threads_.contains(tid)) started_.insert(tid);
  }

  // A new thread. Its breakpoints are those of the process; it is held before
  // it runs.
  bool is_taken_up(const ThreadStop& stop) {
    const pid_t pid = process_of_thread(stop.tid);
    started_.erase(stop.tid);
    if (processes_.contains(pid)) {
      if (!set_breakpoints(pid, stop.tid)) dropped_++;
      return true;
    }
    release(stop);  // a process of its own, or done with
    return false;
  }

  // The process has become another program.
  void leave(pid_t pid) {
    for (const pid_t tid : held()) {
      if (threads_[tid].pid != pid) continue;
      forget(tid);
      ptrace(PTRACE_DETACH, tid, 0, 0);
    }
    processes_.erase(pid);
    notes_.push_back(fmt::format("process {} executed another program and is not traced any more", pid));
  }

  void end(pid_t tid, EventSink& sink) {
    started_.erase(tid);
    if (!threads_.contains(tid)) return;
    wants_more_ &= sink.change({ProcessChange::What::renumbered, threads_[tid].pid, tid});
    forget(tid);
  }

  void forget(pid_t tid) {
    const auto thread = threads_.find(tid);
    if (thread == threads_.end()) return;
    forget_registers(thread->second);
    threads_.erase(thread);
  }

  void forget_registers(TracedThread& thread) {
    for (const DebugRegister& one : thread.at_sites) hits_ += one.hits();
    for (const DebugRegister& one : thread.calls.registers()) hits_ += one.hits();
    thread.at_sites.clear();
    thread.calls.registers().clear();
  }

  // Returns the hits among what is released.
  uint64_t release_kept() {
    if (!kept_) return 0;
    const ThreadStop stop = *std::exchange(kept_, std::nullopt);
    const bool hit = is_hit(stop);
    go_on(stop, hit ? 0 : signal_of(stop), pace_of(stop.tid));
    return hit ? 1 : 0;
  }

  static bool is_hit(const ThreadStop& stop) { return is_of_breakpoint(stop.tid, signal_of(stop)); }

  // The thread stands at a site, the hit of which was seen or came with this signal, before the instruction is executed.
  bool has_hit(pid_t tid) const {
    constexpr long kResumes = 1 << 16;  // the breakpoint does not hit again; read_registers() leaves it out
    if ((ptrace(PTRACE_PEEKUSER, tid, offsetof(user, regs.eflags), 0) & kResumes) == 0) return false;
    const StoppedThread now = look_at(tid);
    const auto& sites = threads_.at(tid).at_sites;
    return now.tid != 0 &&
           std::any_of(sites.begin(), sites.end(), [&](const DebugRegister& one) { return one.address() == now.counter(); });
  }

  // Go's handler of this signal leads the goroutine elsewhere, and later back to the instruction, where the breakpoint would hit
  // once more. So the instruction is executed before the signal is handed on.
  void step_over(const ThreadStop& stop, EventSink& sink) {
    if (threads_[stop.tid].has_unseen()) fire(stop.tid, sink);
    ptrace(PTRACE_GETSIGINFO, stop.tid, 0, &threads_[stop.tid].kept_back.emplace());
    step(stop.tid);
  }

  // The kernel does not stop a thread at the system call that it has just executed as a single step.
  uint64_t firings_of_step(pid_t tid) const {
    const auto process = processes_.find(threads_.at(tid).pid);
    const StoppedThread now = look_at(tid);
    if (process == processes_.end() || now.tid == 0) return 0;
    uint64_t firings = 0;
    for (const auto* calls : {&process->second.begins, &process->second.ends})
      if (const auto found = calls->find(now.words[saved::orig_rax]); found != calls->end()) firings += found->second.size();
    return firings;
  }

  // The signal with which a thread is let go. Nothing: the SIGTRAP of its step has to come first.
  std::optional<int> last_signal(TracedThread& thread, const ThreadStop& stop, uint64_t& in_flight) {
    note_start(stop);
    const bool hit = is_hit(stop);
    const auto handed_back = thread.kept_back ? hand_back(thread, stop) : 0;
    if (!handed_back) return std::nullopt;
    in_flight += hit ? 1 : 0;
    return *handed_back != 0 || hit ? *handed_back : signal_of(stop);
  }

  // Gives the thread the signal that was kept back, with its next stop or with this one, and then returns it. Nothing: the
  // SIGTRAP of the step comes next.
  std::optional<int> hand_back(TracedThread& thread, const ThreadStop& stop) {
    const SingleStep step = single_step_at(stop.tid, signal_of(stop));
    if (step == SingleStep::queued) return std::nullopt;
    const siginfo_t kept_back = *thread.kept_back;
    thread.kept_back.reset();
    if (step == SingleStep::done) dropped_ += firings_of_step(stop.tid);
    if (step == SingleStep::done) return ptrace(PTRACE_SETSIGINFO, stop.tid, 0, &kept_back), SIGURG;
    tgkill(thread.pid, stop.tid, SIGURG);
    return 0;
  }

  void end_step(const ThreadStop& stop, EventSink& sink) {
    const bool hit = is_hit(stop);
    const auto handed_back = hand_back(threads_[stop.tid], stop);
    if (hit) fire(stop.tid, sink);
    go_on(stop, handed_back.value_or(0) != 0 ? *handed_back : hit ? 0 : signal_of(stop), pace_of(stop.tid));
  }

  StoppedThread look_at(pid_t tid) const {
    StoppedThread now{.pid = threads_.at(tid).pid, .tid = tid, .time = read_clock(CLOCK_MONOTONIC)};
    if (!read_registers(now)) now.tid = 0;
    return now;
  }

  // A `ret` leaves the return address below the stack pointer. Behind an exception, the handler's own calls have replaced it.
  static bool has_popped(const StoppedThread& now) { return read_word(now.pid, now.stack() - sizeof(uint64_t)) == now.counter(); }

  void fire(pid_t tid, EventSink& sink) {
    TracedThread& thread = threads_[tid];
    const StoppedThread now = look_at(tid);
    if (now.tid == 0 || !thread.has(now.counter())) return;
    seen_++;
    const bool is_return = thread.calls.watches(now.counter()) && has_popped(now);
    thread.calls.take(now.counter(), now.stack(), [&](const OpenCall& call) {
      if (is_return) deliver(call.cookie, now, call.function, sink);
    });
    const auto& sites = processes_[thread.pid].sites;
    const auto site = sites.find(now.counter());
    if (site == sites.end()) return;
    thread.seen++;
    OpenCall call{read_word(now.pid, now.stack()), now.stack(), now.counter(), 0};
    const auto is_call = [](const FiredProbe& firer) { return firer.kind == FiredProbe::Kind::call; };
    if (std::any_of(site->second.begin(), site->second.end(), is_call)) dropped_ += thread.calls.leave(now.pid, call);
    for (const FiredProbe& firer : site->second) {
      call.cookie = firer.cookie;
      if (!is_call(firer))
        deliver(firer.cookie, now, 0, sink);
      else if (!thread.calls.add(tid, call, hits_))
        dropped_++;
    }
  }

  // Of the probes of the system call at whose begin or end the thread stands; nullptr: it has none.
  const std::vector<uint64_t>* cookies_at_call(pid_t tid) const {
    const auto process = processes_.find(threads_.at(tid).pid);
    __ptrace_syscall_info info{};
    if (process == processes_.end() || ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) <= 0) return nullptr;
    if (info.arch != AUDIT_ARCH_X86_64) return nullptr;
    const auto number = static_cast<uint64_t>(ptrace(PTRACE_PEEKUSER, tid, offsetof(user, regs.orig_rax), 0));
    const auto& calls = info.op == PTRACE_SYSCALL_INFO_ENTRY ? process->second.begins : process->second.ends;
    const auto found = calls.find(number);
    return found == calls.end() ? nullptr : &found->second;
  }

  void fire_call(pid_t tid, EventSink& sink) {
    const std::vector<uint64_t>* cookies = cookies_at_call(tid);
    if (cookies == nullptr) return;
    const StoppedThread now = look_at(tid);
    if (now.tid == 0) return;
    for (const uint64_t cookie : *cookies) deliver(cookie, now, 0, sink);
  }

  void deliver(uint64_t cookie, const StoppedThread& now, uint64_t function, EventSink& sink) {
    fired_++;
    const RecordLayout& layout = delivery_.group(group_of(cookie)).layout;
    wants_more_ &= delivery_.deliver(write_record(layout, cookie, now, function, room_), sink);
  }

  Delivery delivery_{true};
  BreakpointPlanner planner_{delivery_};
  std::optional<StopSignal> signal_;
  TracedProcesses processes_;
  std::map<pid_t, TracedThread> threads_;
  std::optional<ThreadStop> kept_;  // a firing for which there was no room
  std::set<pid_t> started_;         // new threads, until their first stop
  std::vector<pid_t> waiting_;      // programs that dvm has started, until they are let run
  std::vector<uint64_t> room_;      // for a record
  std::vector<std::string> notes_;
  std::set<std::string_view> told_;  // of these, those that are told once
  bool must_follow_ = false;         // forks
  bool wants_more_ = true;           // the sink, in this poll
  uint64_t fired_ = 0, dropped_ = 0;
  uint64_t hits_ = 0, seen_ = 0;  // of breakpoints: all that were, and those
                                  // that stopped their thread
};

}  // namespace

std::unique_ptr<Instrument> make_breakpoint_instrument() { return std::make_unique<BreakpointInstrument>(); }

}  // namespace dvm::runtime
