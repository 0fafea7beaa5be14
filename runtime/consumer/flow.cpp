// Arrows and indentation. Tested by tests/unit/runtime/consumer_test.cpp.

#include "runtime/consumer/flow.h"

#include <fmt/format.h>

namespace dvm::runtime {
namespace {

bool is_same_firing(const Ecb* a, const Ecb& b) { return a != nullptr && a != &b && a->probe == b.probe; }

}  // namespace

std::string Flow::column(const Ecb& ecb, const Ecb* next) {
  const Probe& probe = *ecb.probe;
  bool enters = probe.name == "entry" && !is_same_firing(last_, ecb);
  bool leaves = probe.name == "return" && !is_same_firing(next, ecb);
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
