// The instrument: from sites to breakpoints in threads, and from their stops to firings. Tested by
// tests/runtime/scenarios/test_unprivileged.py.
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/clock.h"
#include "runtime/code/module_code.h"
#include "runtime/instrument/breakpoint/breakpoint.h"
#include "runtime/instrument/breakpoint/calls.h"
#include "runtime/instrument/breakpoint/debug_register.h"
#include "runtime/instrument/breakpoint/held_threads.h"
#include "runtime/instrument/breakpoint/stopped_thread.h"
#include "runtime/instrument/uprobe/delivery.h"
#include "runtime/instrument/uprobe/return_plan.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostGroups = 65536;  // the cookie has 16 bits for it
constexpr std::string_view kPrice =
    "without BPF: a firing stops its thread, by a debug register of the processor, until dvm has looked: some 20 us each";
constexpr int kMostStops = 256;  // until the session is asked whether it goes on
constexpr uint32_t kStackBytes = 16384;

// One probe at one address. Several at one fire in the order of their kinds: a return, an entry, the instruction itself.
struct Firer {
  enum class Kind : uint8_t { entry, inside, call };
  Kind kind = Kind::entry;
  uint64_t cookie = 0;
};

struct TracedProcess {
  std::map<uint64_t, std::vector<Firer>> sites;  // by address
  bool has_calls = false;

  size_t registers_needed() const { return sites.size() + (has_calls ? 1 : 0); }
};

struct ThreadBreakpoints {
  pid_t pid = 0;
  std::vector<DebugRegister> at_sites;
  Calls calls;

  bool has(uint64_t address) const {
    return calls.watches(address) ||
           std::any_of(at_sites.begin(), at_sites.end(), [&](const DebugRegister& it) { return it.address() == address; });
  }
};

// Where the process has this place of a file; none: it has not mapped it as code.
std::optional<uint64_t> address_of(const std::vector<MappedObject>& objects, const UprobeSite& site) {
  for (const MappedObject& object : objects)
    if (object.open_path == site.path && object.address != 0 && site.offset >= object.offset)
      return object.address + (site.offset - object.offset);
  return std::nullopt;
}

class BreakpointInstrument final : public Instrument {
 public:
  ~BreakpointInstrument() override { BreakpointInstrument::disable(); }

  bool takes(const Probe& probe) const override { return std::holds_alternative<UprobeSite>(probe.site); }

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
    for (int count = 0; count < kMostStops; count++) {
      const auto stop = next_stop([this] { return held(); });
      if (!stop) break;
      see(*stop, sink);
    }
    return fired_ - before;
  }

  int wake_descriptor() const override { return signal_ ? signal_->descriptor() : -1; }
  bool holds_processes() const override { return !threads_.empty(); }
  uint64_t drops() const override { return dropped_; }

  std::vector<std::string> take_notes() override { return std::exchange(notes_, {}); }

  void disable() override {
    uint64_t waiting = 0;
    for (auto& [tid, thread] : threads_) forget_registers(thread);
    for (auto& [tid, thread] : threads_)
      let_go(tid, [&](const ThreadStop& stop) { return is_hit(stop) ? (waiting++, 0) : stop.signal; });
    threads_.clear();
    processes_.clear();
    if (hits_ > seen_ + waiting) dropped_ += hits_ - seen_ - waiting;
    hits_ = seen_ = 0;
  }

 private:
  Status try_enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
    for (const EnabledProbe& enabled : probes) {
      if (Status status = plan(enabled, std::get<UprobeSite>(enabled.probe->site), refused); !status) return status;
      for (const UprobeSite& site : enabled.probe->more_sites)
        if (Status status = plan(enabled, site, refused); !status) return status;
    }
    objects_.clear();
    for (auto& [pid, process] : processes_) {
      if (Status status = check_room(pid, process); !status) return status;
      if (Status status = hold(pid); !status) return status;
    }
    if (notes_.empty() && !threads_.empty()) notes_.emplace_back(kPrice);
    return {};
  }

  Status plan(const EnabledProbe& enabled, const UprobeSite& site, std::vector<Refused>& refused) {
    if (site.semaphore != 0) {
      refused.push_back({enabled.probe, "its semaphore would stay raised if dvm were killed; uprobes need not raise it so"});
      return {};
    }
    const auto address = address_of(objects(site.pid), site);
    if (!address) {
      refused.push_back({enabled.probe, "its file is not mapped as code"});
      return {};
    }
    const SiteShape shape = shape_of(site);
    if (delivery_.groups() == kMostGroups) return Error{"too many different clauses on too many processes"};
    const RecordLayout layout = make_layout(possible_needs(needs(enabled, site.pid), shape), shape);
    room_.resize(std::max<size_t>(room_.size(), layout.size / 8));
    const auto group = static_cast<uint16_t>(delivery_.add(layout, site.pid));
    FiredAt fired{enabled.probe->id, 0, {}};
    if (site.is_return) fired.exit = only_exit(site);
    TracedProcess& process = processes_[site.pid];
    process.has_calls |= site.is_return;
    const Firer::Kind kind = site.is_return ? Firer::Kind::call : site.inside ? Firer::Kind::inside : Firer::Kind::entry;
    std::vector<Firer>& firers = process.sites[*address];
    firers.push_back({kind, make_cookie(delivery_.number(fired), group)});
    std::stable_sort(firers.begin(), firers.end(), [](const Firer& a, const Firer& b) { return a.kind < b.kind; });
    return {};
  }

  // Memory is read while the thread stands still, when the VM asks for it.
  CaptureNeeds needs(const EnabledProbe& enabled, int32_t pid) {
    CaptureNeeds needs = enabled.needs;
    needs.memory.clear();
    needs.thread = true;
    if (needs.frames != 0) needs.stack_bytes = kStackBytes, delivery_.unwinder().learn(pid);
    return needs;
  }

  // Where the function is left, if there is one such place: where a call returns to does not tell.
  uint32_t only_exit(const UprobeSite& site) {
    const auto file = ModuleCode::open(site.path);
    if (!file) return 0;
    const ReturnPlan plan = returns_.plan(site, file->get(), false);
    return plan.exits.size() == 1 ? plan.exits.front() : plan.only_exit.value_or(0);
  }

  const std::vector<MappedObject>& objects(pid_t pid) {
    const auto [known, is_new] = objects_.try_emplace(pid);
    if (is_new)
      if (auto found = mapped_objects(pid)) known->second = std::move(*found);
    return known->second;
  }

  static Status check_room(pid_t pid, const TracedProcess& process) {
    if (process.registers_needed() <= kDebugRegisters) return {};
    return Error{fmt::format(
        "{} places of process {} would be probed{}, and without privileges there are breakpoints for {}; with CAP_BPF and "
        "CAP_PERFMON there is no such limit",
        process.sites.size(), pid, process.has_calls ? ", and one more is needed for returns" : "", kDebugRegisters)};
  }

  // Until no thread is new: each that is held makes none that is not.
  Status hold(pid_t pid) {
    for (bool any = true; any;) {
      any = false;
      for (const pid_t tid : threads_of(pid)) {
        if (threads_.contains(tid)) continue;
        any = true;
        if (Status held = hold_thread(tid); !held)
          return Error{fmt::format("cannot trace process {}: {}", pid, held.error().message)};
        if (Status set = set_breakpoints(pid, tid); !set) return set;
      }
    }
    for (auto& [tid, thread] : threads_)
      if (thread.pid == pid)
        if (Status set = set_breakpoints(pid, tid); !set) return set;
    return {};
  }

  // At all sites of the process where the thread has none yet.
  Status set_breakpoints(pid_t pid, pid_t tid) {
    ThreadBreakpoints& thread = threads_[tid];
    thread.pid = pid;
    for (const auto& [address, firers] : processes_[pid].sites) {
      const auto is_there = [at = address](const DebugRegister& it) { return it.address() == at; };
      if (std::any_of(thread.at_sites.begin(), thread.at_sites.end(), is_there)) continue;
      DebugRegister made = DebugRegister::set(tid, address);
      if (!made && errno == ESRCH) return {};
      if (!made) return Error{"cannot set a breakpoint: " + debug_register_reason(errno)};
      thread.at_sites.push_back(std::move(made));
    }
    return {};
  }

  std::vector<pid_t> held() const {
    std::vector<pid_t> tids;
    for (const auto& [tid, thread] : threads_) tids.push_back(tid);
    return tids;
  }

  void see(const ThreadStop& stop, EventSink& sink) {
    if (stop.is_end) return forget(stop.tid);
    if (!threads_.contains(stop.tid) && !is_taken_up(stop)) return;
    if (stop.event == PTRACE_EVENT_EXEC) return leave(threads_[stop.tid].pid);
    if (!is_hit(stop)) return go_on(stop, stop.event == 0 ? stop.signal : 0);
    fire(stop.tid, sink);
    go_on(stop, 0);
  }

  // A new thread. Its breakpoints are those of the process; it is held before it runs.
  bool is_taken_up(const ThreadStop& stop) {
    const pid_t pid = process_of_thread(stop.tid);
    if (processes_.contains(pid)) {
      if (!set_breakpoints(pid, stop.tid)) dropped_++;
      return true;
    }
    ptrace(PTRACE_DETACH, stop.tid, 0, 0);  // a process of its own
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
    notes_.push_back(fmt::format("process {} became another program and was traced no further", pid));
  }

  void forget(pid_t tid) {
    const auto thread = threads_.find(tid);
    if (thread == threads_.end()) return;
    forget_registers(thread->second);
    threads_.erase(thread);
  }

  void forget_registers(ThreadBreakpoints& thread) {
    for (const DebugRegister& one : thread.at_sites) hits_ += one.hits();
    for (const DebugRegister& one : thread.calls.registers()) hits_ += one.hits();
    thread.at_sites.clear();
    thread.calls.registers().clear();
  }

  // Whether it stopped because of a breakpoint; not if the signal is somebody else's, or is late.
  bool is_hit(const ThreadStop& stop) {
    siginfo_t info{};
    if (stop.event != 0 || stop.signal != SIGURG || ptrace(PTRACE_GETSIGINFO, stop.tid, 0, &info) != 0) return false;
    return info.si_code == POLL_IN;
  }

  void fire(pid_t tid, EventSink& sink) {
    ThreadBreakpoints& thread = threads_[tid];
    StoppedThread now;
    now.pid = thread.pid, now.tid = tid;
    now.time = read_clock(CLOCK_MONOTONIC);
    if (!read_registers(now) || !thread.has(now.counter())) return;
    seen_++;
    thread.calls.take(now.counter(), now.stack(), [&](const Call& call) { deliver(call.cookie, now, call.function, sink); });
    const auto& sites = processes_[thread.pid].sites;
    const auto site = sites.find(now.counter());
    if (site == sites.end()) return;
    for (const Firer& firer : site->second)
      if (firer.kind != Firer::Kind::call)
        deliver(firer.cookie, now, 0, sink);
      else if (!thread.calls.add(tid, {read_word(now.pid, now.stack()), now.stack(), now.counter(), firer.cookie}, hits_))
        dropped_++;
  }

  void deliver(uint64_t cookie, const StoppedThread& now, uint64_t function, EventSink& sink) {
    fired_++;
    const RecordLayout& layout = delivery_.group(group_of(cookie)).layout;
    delivery_.deliver(write_record(layout, cookie, now, function, room_), sink);
  }

  Delivery delivery_;
  ReturnPlanner returns_;
  std::optional<StopSignal> signal_;
  std::map<pid_t, TracedProcess> processes_;
  std::map<pid_t, ThreadBreakpoints> threads_;
  std::map<pid_t, std::vector<MappedObject>> objects_;  // while probes are planned
  std::vector<uint64_t> room_;                          // for a record
  std::vector<std::string> notes_;
  uint64_t fired_ = 0, dropped_ = 0;
  uint64_t hits_ = 0, seen_ = 0;  // of breakpoints: all that were, and those that stopped their thread
};

}  // namespace

std::unique_ptr<Instrument> make_breakpoint_instrument() { return std::make_unique<BreakpointInstrument>(); }

}  // namespace dvm::runtime
