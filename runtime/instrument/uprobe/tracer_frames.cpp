// Tested by tests/unit/instrument/kernel_symbols_test.cpp.
#include "runtime/instrument/uprobe/tracer_frames.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dvm::runtime {

Status TracerFrames::learn(const KernelSymbols& symbols) {
  constexpr std::array<std::string_view, 3> kCallers = {"bpf_trace_run", "__bpf_trace_", "__traceiter_"};
  if (symbols.is_hidden())
    return Error{
        "the kernel hides its symbols, so the frames of a kernel stack cannot be told from the tracer's; dvm doctor says what "
        "would show them"};
  if (functions_.empty()) functions_ = symbols.functions_beginning(kCallers);
  return {};
}

bool TracerFrames::has(uint64_t address) const noexcept {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](uint64_t at, const AddressRange& one) { return at < one.begin; });
  return after != functions_.begin() && address < std::prev(after)->end;
}

std::span<const uint64_t> TracerFrames::without(std::span<const uint64_t> stack) const noexcept {
  size_t first = 0;
  for (size_t i = 0; i < std::min<size_t>(stack.size(), kMostTracerFrames); i++)
    if (has(stack[i])) first = i + 1;
  return stack.subspan(first);
}

}  // namespace dvm::runtime
