// Arrows and indentation. Tested by tests/unit/runtime/consumer_test.cpp.

#include "runtime/consumer/flow.h"

#include <fmt/format.h>

namespace dvm::runtime {
namespace {

bool is_same_firing(const Ecb* a, const Ecb& b) { return a != nullptr && a != &b && a->probe == b.probe; }

// "entry" or "method-entry", but not "gentry".
bool is_named(std::string_view name, std::string_view what) {
  if (!name.ends_with(what)) return false;
  name.remove_suffix(what.size());
  return name.empty() || name.ends_with('-');
}

}  // namespace

std::string FlowColumn::column(const Ecb& ecb, const Ecb* next) {
  const Probe& probe = *ecb.probe;
  bool enters = is_named(probe.name, "entry") && !is_same_firing(last_, ecb);
  bool leaves = is_named(probe.name, "return") && !is_same_firing(next, ecb);
  bool is_syscall = probe.provider == "syscall";
  last_ = &ecb;
  if (leaves && indent_ > 0) indent_ -= 2;
  std::string text(static_cast<size_t>(indent_), ' ');
  if (enters) indent_ += 2;
  if (enters) return text + (is_syscall ? " => " : " -> ") + probe.function;
  if (leaves) return text + (is_syscall ? " <= " : " <- ") + probe.function;
  return text + fmt::format("| {}:{}", probe.function, probe.name);
}

}  // namespace dvm::runtime
