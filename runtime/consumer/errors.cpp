// Messages of faults and drops. Tested by tests/unit/runtime/consumer_test.cpp.

#include "runtime/consumer/errors.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dvm::runtime {
namespace {

// The address or the index of a fault, for its message.
std::string value_text(dif::Fault fault, uint64_t value) {
  if (fault == dif::Fault::badindex) return fmt::format(" ({})", static_cast<int64_t>(value));
  return fault == dif::Fault::badaddr ? fmt::format(" (0x{:x})", value) : "";
}

constexpr std::string_view kCalls[] = {
#define DVM_SYSCALL(number, name) #name,
#include "runtime/provider/syscalls.def"
#undef DVM_SYSCALL
};

bool is_call(std::string_view name) { return std::find(std::begin(kCalls), std::end(kCalls), name) != std::end(kCalls); }

// openat, fchmodat2, newfstatat: there is a call of the same without a directory's descriptor.
bool begins_with_directory(std::string_view call) {
  if (call == "symlinkat") return false;  // its first path comes before the directory
  if (call.ends_with('2')) call.remove_suffix(1);
  if (!call.ends_with("at")) return false;
  call.remove_suffix(2);
  for (const std::string_view prefix : {"", "f", "newf"})
    if (call.starts_with(prefix) && is_call(call.substr(prefix.size()))) return true;
  return false;
}

// AT_FDCWD, or a number that a process may have open; no address.
bool may_be_descriptor(uint64_t value) { return static_cast<int32_t>(value) == AT_FDCWD || value < 4096; }

// "12 failed speculations (no speculative buffer available)"
std::string counted(const DropInfo& kind, uint64_t count) {
  return fmt::format("{} {}{}{}", count, kind.what, count > 1 ? "s" : "", kind.where);
}

}  // namespace

std::string_view fault_text(dif::Fault fault) { return info(fault).message; }

std::string place_text(const Ecb& ecb) {
  const Probe& probe = *ecb.probe;
  return fmt::format("dt_clause_{} for probe ID {} ({}:{}:{}:{})", ecb.plan->clause, probe.id, probe.provider, probe.module,
                     probe.function, probe.name);
}

std::string error_text(const ErrorRecord& error, const Enabling& enabling) {
  const Ecb* ecb = enabling.ecb(error.epid);
  const std::string where = ecb ? place_text(*ecb) : "an unknown clause";
  return fmt::format("error in {}: {}{} at DIF offset {}", where, fault_text(error.fault), value_text(error.fault, error.value),
                     error.offset);
}

std::string more_errors_text(const MoreErrors& more) {
  return fmt::format("{} more error{} in dt_clause_{}: {}", more.count, more.count > 1 ? "s" : "", more.clause,
                     fault_text(more.fault));
}

bool ErrorLimit::admits(const ErrorRecord& error, const Enabling& enabling) {
  const Ecb* ecb = enabling.ecb(error.epid);
  return ecb == nullptr || ++seen_[{ecb->plan->clause, error.fault}] <= kPrinted;
}

std::vector<MoreErrors> ErrorLimit::more() const {
  std::vector<MoreErrors> more;
  for (const auto& [kind, count] : seen_)
    if (count > kPrinted) more.push_back({kind.first, kind.second, count - kPrinted});
  return more;
}

std::string error_hint(const ErrorRecord& error, const Enabling& enabling) {
  const Ecb* ecb = enabling.ecb(error.epid);
  if (ecb == nullptr || error.fault != dif::Fault::badaddr || !may_be_descriptor(error.value)) return "";
  const Probe& probe = *ecb->probe;
  if (!probe.provider.ends_with("syscall") || probe.name != "entry" || !begins_with_directory(probe.function)) return "";
  return fmt::format("arg0 of {} is a directory's descriptor; its path is arg1", probe.function);
}

std::vector<DropLine> drops_between(const Drops& before, const Drops& now) {
  std::vector<DropLine> lines;
  for (const DropInfo& kind : kDrops)
    for (size_t cpu = 0; cpu < now.of(kind.id).size(); cpu++)
      if (const uint64_t count = now(kind.id, cpu) - before(kind.id, cpu)) lines.push_back({kind, cpu, count});
  return lines;
}

std::string drop_text(const DropLine& drop, bool with_tag) {
  const std::string tag = with_tag ? fmt::format("[{}] ", drop.kind.tag) : "";
  const std::string on = drop.kind.per_cpu ? fmt::format(" on CPU {}", drop.cpu) : "";
  return tag + counted(drop.kind, drop.count) + on;
}

std::string late_text(uint64_t values) {
  return fmt::format("{} value{} read after {} firing, not at it, and may differ from what {} then", values,
                     values > 1 ? "s were" : " was", values > 1 ? "their" : "its", values > 1 ? "they were" : "it was");
}

std::string unknown_files_text(uint64_t values) {
  return fmt::format(
      "{} value{} of fds[] {} not known: the firing did not capture the file; its descriptor must be a constant, an argument or "
      "result of the function, or the first argument of the system call (arg0 of a return probe is an offset)",
      values, values > 1 ? "s" : "", values > 1 ? "are" : "is");
}

std::string drops_summary(const Drops& drops) {
  std::string text;
  for (const DropInfo& kind : kDrops)
    if (const uint64_t count = drops.total(kind.id)) text += (text.empty() ? "in all " : ", ") + counted(kind, count);
  return text;
}

}  // namespace dvm::runtime
