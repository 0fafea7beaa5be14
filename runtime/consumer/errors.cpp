// Messages of faults and drops. Tested by tests/unit/runtime/consumer_test.cpp.

#include "runtime/consumer/errors.h"

#include <fmt/format.h>

namespace dvm::runtime {
namespace {

bool shows_address(dif::Fault fault) {
  return fault == dif::Fault::badaddr || fault == dif::Fault::badalign || fault == dif::Fault::kpriv ||
         fault == dif::Fault::upriv;
}

void add_line(std::string& text, uint64_t before, uint64_t now, std::string_view what, std::string_view rest) {
  if (now > before) text += fmt::format("dvm: {} {}{}{}\n", now - before, what, now - before > 1 ? "s" : "", rest);
}

}  // namespace

std::string place_text(const Ecb& ecb) {
  const Probe& probe = *ecb.probe;
  return fmt::format("dt_clause_{} for probe ID {} ({}:{}:{}:{})", ecb.clause, probe.id, probe.provider, probe.module,
                     probe.function, probe.name);
}

std::string error_text(const ErrorRecord& error, const Enabling& enabling) {
  const Ecb* ecb = enabling.ecb(error.epid);
  const std::string where = ecb ? place_text(*ecb) : "an unknown clause";
  std::string_view message = static_cast<size_t>(error.fault) < dif::kFaults.size() ? info(error.fault).message : "unknown fault";
  std::string address = shows_address(error.fault) ? fmt::format(" (0x{:x})", error.value) : "";
  return fmt::format("error in {}: {}{} at DIF offset {}", where, message, address, error.offset);
}

std::string drops_text(const Drops& before, const Drops& now) {
  std::string text;
  add_line(text, before.principal, now.principal, "drop", " on CPU 0");
  add_line(text, before.aggregation, now.aggregation, "aggregation drop", " on CPU 0");
  add_line(text, before.dynamic.drops, now.dynamic.drops, "dynamic variable drop", "");
  add_line(text, before.dynamic.rinsing, now.dynamic.rinsing, "dynamic variable drop", " with non-empty rinsing list");
  add_line(text, before.dynamic.dirty, now.dynamic.dirty, "dynamic variable drop", " with non-empty dirty list");
  add_line(text, before.errors_in_error, now.errors_in_error, "error", " in ERROR probe enabling");
  return text;
}

}  // namespace dvm::runtime
