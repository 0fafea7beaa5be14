// Messages of faults and drops. Tested by tests/unit/runtime/consumer_test.cpp.

#include "runtime/consumer/errors.h"

#include <fmt/format.h>

namespace dvm::runtime {
namespace {

bool shows_address(dif::Fault fault) {
  return fault == dif::Fault::badaddr || fault == dif::Fault::badalign || fault == dif::Fault::kpriv ||
         fault == dif::Fault::upriv;
}

// "12 failed speculations (no speculative buffer available)"
std::string counted(const DropInfo& kind, uint64_t count) {
  return fmt::format("{} {}{}{}", count, kind.what, count > 1 ? "s" : "", kind.where);
}

}  // namespace

std::string_view fault_text(dif::Fault fault) {
  return static_cast<size_t>(fault) < dif::kFaults.size() ? info(fault).message : "unknown fault";
}

std::string place_text(const Ecb& ecb) {
  const Probe& probe = *ecb.probe;
  return fmt::format("dt_clause_{} for probe ID {} ({}:{}:{}:{})", ecb.clause, probe.id, probe.provider, probe.module,
                     probe.function, probe.name);
}

std::string error_text(const ErrorRecord& error, const Enabling& enabling) {
  const Ecb* ecb = enabling.ecb(error.epid);
  const std::string where = ecb ? place_text(*ecb) : "an unknown clause";
  std::string address = shows_address(error.fault) ? fmt::format(" (0x{:x})", error.value) : "";
  return fmt::format("error in {}: {}{} at DIF offset {}", where, fault_text(error.fault), address, error.offset);
}

std::string more_errors_text(const MoreErrors& more) {
  return fmt::format("{} more error{} in dt_clause_{}: {}", more.count, more.count > 1 ? "s" : "", more.clause,
                     fault_text(more.fault));
}

bool ErrorLimit::admits(const ErrorRecord& error, const Enabling& enabling) {
  const Ecb* ecb = enabling.ecb(error.epid);
  return ecb == nullptr || ++seen_[{ecb->clause, error.fault}] <= kPrinted;
}

std::vector<MoreErrors> ErrorLimit::more() const {
  std::vector<MoreErrors> more;
  for (const auto& [kind, count] : seen_)
    if (count > kPrinted) more.push_back({kind.first, kind.second, count - kPrinted});
  return more;
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

std::string drops_summary(const Drops& drops) {
  std::string text;
  for (const DropInfo& kind : kDrops)
    if (const uint64_t count = drops.total(kind.id)) text += (text.empty() ? "in all " : ", ") + counted(kind, count);
  return text;
}

}  // namespace dvm::runtime
