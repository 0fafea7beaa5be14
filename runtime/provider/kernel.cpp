// The providers of the kernel's own events: sched and proc, which use tracepoints, and fbt, which only explains why it has no
// probes. DTrace probes for which Linux has no tracepoint are listed too, so that a script gets a reason. Covered by
// tests/unit/instrument/kernel_provider_test.cpp, tests/runtime/sched and tests/runtime/proc.
//
// In some probes args[] has an lwpsinfo_t and a psinfo_t of a thread other than the one that fires. There arg0 and arg1 are
// tokens of that thread and its process, as curthread.d has them, and the fields that the translators of kernel.d read are
// further arguments:
//
//   arg3 CPU   arg4 thread   arg5 process   arg6 address of its name   arg7 priority   arg8 parent   arg9 user
//
// arg2 of off-cpu is whether the thread that fires was preempted, for procfs.d.

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "common/similar.h"
#include "runtime/catalog/catalog.h"
#include "runtime/provider/kernel_rows.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

using Is = KernelCondition::Is;

constexpr uint16_t kClone = 56, kFork = 57, kVfork = 58, kExecve = 59, kRtSigtimedwait = 128, kExecveat = 322, kClone3 = 435;

// With the thread whose task_struct is word n as args[0] and args[1].
KernelEvent about(KernelEvent event, uint8_t n) {
  event.args = {
      handed(n, "pid"),  handed(n, "tgid"),  event.args[2],     handed(n, "thread_info.cpu"),  handed(n, "pid"),
      handed(n, "tgid"), handed(n, "&comm"), handed(n, "prio"), handed(n, "real_parent.tgid"), handed(n, "cred.uid.val")};
  return event;
}

// With the parent and the user of the process, which may soon be gone.
KernelEvent with_ids(KernelEvent event) {
  event.args[8] = of_this_thread("real_parent.tgid"), event.args[9] = of_this_thread("cred.uid.val");
  return event;
}

// The CPU stands between the thread and further arguments.
KernelEvent with_cpu(KernelEvent event, uint8_t n) {
  event.args[2] = handed(n, "thread_info.cpu");
  return event;
}

KernelEvent thread_goes(std::vector<KernelCondition> when) {
  when.push_back({handed(kGoes, "pid"), Is::different, 0});  // the idle thread neither sleeps nor waits
  return at("sched_switch", std::move(when));
}

// sched_exit_tp passes whether the thread was away. A new thread begins elsewhere, and has not been away yet.
KernelEvent thread_comes() {
  const auto comes = [](std::vector<KernelCondition> when) {
    KernelEvent event = at("sched_switch", std::move(when));
    event.thread = handed(kComes);
    return event;
  };
  KernelEvent event = comes({});
  event.in_thread = {comes({{handed(kComes, "nvcsw"), Is::equal, 0}, {handed(kComes, "nivcsw"), Is::equal, 0}}),
                     at("sched_exit_tp", {{handed(0), Is::different, 0}})};
  return event;
}

std::vector<KernelProbe> sched_probes() {
  const KernelCondition runnable{handed(kState), Is::equal, 0};
  const KernelCondition sleeping{handed(kState), Is::different, 0};
  const KernelCondition is_preempted{handed(kPreempted), Is::different, 0};  // perhaps before it could go to sleep
  const KernelCondition is_not_preempted{handed(kPreempted), Is::equal, 0};
  const KernelCondition not_idle{handed(kComes, "pid"), Is::different, 0};
  return {
      {"dequeue", {about(with_cpu(at("sched_switch", {not_idle}), kComes), kComes)}},
      {"sleep", {thread_goes({sleeping, is_not_preempted})}},
      {"preempt", {thread_goes({runnable}), thread_goes({sleeping, is_preempted})}},
      {"enqueue",
       {about(with_cpu(thread_goes({runnable}), kGoes), kGoes),
        about(with_cpu(thread_goes({sleeping, is_preempted}), kGoes), kGoes), about(with_cpu(at("sched_wakeup"), 0), 0),
        about(with_cpu(at("sched_wakeup_new"), 0), 0)}},
      {"off-cpu", {about(with_argument(at("sched_switch"), 2, handed(kPreempted)), kComes)}},
      {"on-cpu", {thread_comes()}},
      {"wakeup", {about(at("sched_wakeup"), 0), about(at("sched_wakeup_new"), 0)}},
      {"tick", {}},
      {"change-pri", {}},
      {"remain-cpu", {}},
      {"surrender", {}},
      {"schedctl-nopreempt", {}},
      {"schedctl-preempt", {}},
      {"schedctl-yield", {}},
      {"cpucaps-sleep", {}},
      {"cpucaps-wakeup", {}},
  };
}

// Why a process ends: CLD_EXITED, CLD_KILLED or CLD_DUMPED, by the bits of its exit code.
std::vector<KernelEvent> exits() {
  constexpr int32_t kSignal = 0x7f, kDumped = 0x80;
  const KernelCondition is_last{handed(0, "signal.live.counter"), Is::equal, 0};  // also of two that end at once
  const KernelCondition is_surely_last{handed(1), Is::different, 0, {}, 1, true};
  const auto event = [&](int64_t why, std::vector<KernelCondition> when) {
    when.insert(when.end(), {is_last, is_surely_last});
    return with_argument(at("sched_process_exit", std::move(when)), 0, constant(why));
  };
  const KernelWord code = handed(0, "exit_code");
  return {event(1, {{code, Is::equal, 0, {}, kSignal}}),
          event(2, {{code, Is::different, 0, {}, kSignal}, {code, Is::equal, 0, {}, kDumped}}),
          event(3, {{code, Is::different, 0, {}, kSignal}, {code, Is::different, 0, {}, kDumped}})};
}

KernelEvent signal(std::vector<KernelCondition> when) {
  return about(with_argument(at("signal_generate", std::move(when)), 2, handed(0)), 2);
}

// In the order in which probes of one event fire: the first thread of a process is made before the process is, and starts after
// it.
std::vector<KernelProbe> proc_probes() {
  using Kind = Operand::Kind;
  const std::vector<uint16_t> kForks = {kClone, kFork, kVfork, kClone3};
  const KernelCondition failed{of_kind(Kind::error), Is::different, 0};
  const KernelCondition positive{of_kind(Kind::result), Is::greater, 0};
  const KernelCondition in_child{of_kind(Kind::result), Is::equal, 0};
  const KernelCondition first_thread{of_this_thread("pid"), Is::equal, 0, of_this_thread("tgid")};
  const KernelCondition first_of_child{handed(1, "pid"), Is::equal, 0, handed(1, "tgid")};
  const KernelCondition ignored{handed(4), Is::equal, 1};
  return {
      {"lwp-create", {about(at("sched_process_fork"), 1)}},
      {"create", {about(at("sched_process_fork", {first_of_child}), 1)}},
      {"start", {call("sys_exit", kForks, {in_child, first_thread})}},
      {"lwp-start", {call("sys_exit", kForks, {in_child})}},
      {"exec",
       {with_argument(call("sys_enter", {kExecve}), 0, {Operand::of_register(saved::rdi)}),
        with_argument(call("sys_enter", {kExecveat}), 0, {Operand::of_register(saved::rsi)})}},
      {"exec-failure", {with_argument(call("sys_exit", {kExecve, kExecveat}, {failed}), 0, of_kind(Kind::error))}},
      {"exec-success", {with_ids(at("sched_process_exec"))}},
      {"lwp-exit", {at("sched_process_exit")}},
      {"exit", exits()},
      {"signal-send", {signal({})}},
      {"signal-discard", {signal({ignored})}},
      {"signal-clear", {with_argument(call("sys_exit", {kRtSigtimedwait}, {positive}), 0, of_kind(Kind::result))}},
      {"signal-handle",
       {with_argument(with_argument(with_argument(at("signal_deliver"), 0, handed(0)), 1, handed(1, "&")), 2,
                      handed(2, "sa.sa_handler"))}},
      {"fault", {}},
  };
}

class KernelProvider : public Provider {
 public:
  KernelProvider(std::string_view name, std::vector<KernelProbe> (*rows)()) : name_(name), rows_(rows) {}
  std::string_view name() const override { return name_; }

  // All of the provider, whatever is asked for: so the order of their ids is that of the table.
  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    const std::optional<std::string_view> module = kernel_module_meant(description.module);
    if (!glob_match(description.provider, name_) || !module) return {};
    if (!glob_match(description.function, "")) return description.provider == name_ ? without_function(description) : Discovery{};
    const std::vector<KernelProbe> rows = rows_();
    const bool is_meant = std::any_of(rows.begin(), rows.end(), [&](const KernelProbe& row) {
      return !row.events.empty() && glob_match(description.name, row.name);
    });
    if (!is_meant) return description.provider == name_ ? nothing_found(description, rows) : Discovery{};
    for (const KernelProbe& row : rows) {
      if (row.events.empty()) continue;
      catalog.add(Probe{.provider = std::string(name_),
                        .module = std::string(*module),
                        .name = std::string(row.name),
                        .site = TracepointSite{row.events}});
    }
    return {};
  }

 private:
  // On Solaris the function is one of its kernel.
  Discovery without_function(const dif::ProbeDesc& description) const {
    return {fmt::format("probes of {} have no function on Linux: {}:::{}", name_, name_, description.name), "D_PDESC_ZERO", {}};
  }

  Discovery nothing_found(const dif::ProbeDesc& description, const std::vector<KernelProbe>& rows) const {
    Discovery result;
    result.tag = "D_PDESC_ZERO";
    std::vector<std::string_view> names;
    for (const KernelProbe& row : rows) {
      if (row.name == description.name)
        result.reason = fmt::format("the kernel has no tracepoint for {}:::{}", name_, description.name);
      if (!row.events.empty()) names.push_back(row.name);
    }
    if (result.reason.empty()) result.similar = similar_names(description.name, names);
    return result;
  }

  std::string_view name_;
  std::vector<KernelProbe> (*rows_)();
};

}  // namespace

std::unique_ptr<Provider> make_kernel_provider(std::string_view name, std::vector<KernelProbe> (*rows)()) {
  return std::make_unique<KernelProvider>(name, rows);
}

std::unique_ptr<Provider> make_sched_provider() { return make_kernel_provider("sched", sched_probes); }
std::unique_ptr<Provider> make_proc_provider() { return make_kernel_provider("proc", proc_probes); }

}  // namespace dvm::runtime
