#pragma once
// Helpers for the tables of the providers of kernel probes: sched, proc, io, vminfo and sysinfo.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dvm/runtime/provider.h"
#include "runtime/catalog/catalog.h"
#include "runtime/catalog/kernel_event.h"

namespace dvm::runtime {

// A probe fires at any of its events. A row without events: there is no such tracepoint.
struct KernelProbe {
  std::string_view name;
  std::vector<KernelEvent> events;
};

// A provider of these probes, in their order.
std::unique_ptr<Provider> make_kernel_provider(std::string_view name, std::vector<KernelProbe> (*rows)());

inline KernelWord handed(uint8_t n, std::string_view members = {}) { return {Operand::handed(n), members}; }
inline KernelWord of_this_thread(std::string_view members) { return {Operand::handed(kThisThread), members}; }
inline KernelWord constant(int64_t value) { return {Operand::constant(value)}; }
inline KernelWord of_kind(Operand::Kind kind) { return {Operand::of_kind(kind)}; }

inline KernelEvent at(std::string tracepoint, std::vector<KernelCondition> when = {}) {
  return {std::move(tracepoint), {}, std::move(when)};
}

inline KernelEvent call(std::string tracepoint, std::vector<uint16_t> calls, std::vector<KernelCondition> when = {}) {
  return {std::move(tracepoint), std::move(calls), std::move(when)};
}

inline KernelEvent with_argument(KernelEvent event, size_t n, KernelWord word) {
  event.args[n] = word;
  return event;
}

// The words of sched_switch: whether the thread was preempted, the thread that goes off the CPU, the one that comes on, and the
// state of the one that goes off.
inline constexpr uint8_t kPreempted = 0, kGoes = 1, kComes = 2, kState = 3;

// The module of kernel probes that a pattern matches. It is empty, as for system calls in DTrace on illumos, or vmlinux, as for
// all kernel probes in DTrace on Linux. It may also be a module of another system's kernel that is spelled in full. Nothing:
// the pattern matches none.
inline std::optional<std::string_view> kernel_module_meant(std::string_view pattern) {
  if (pattern.empty() || glob_match(pattern, "")) return "";
  if (glob_match(pattern, "vmlinux")) return "vmlinux";
  for (const std::string_view name : {"genunix", "unix", "mach_kernel", "kernel"})
    if (pattern == name) return name;
  return {};
}

}  // namespace dvm::runtime
