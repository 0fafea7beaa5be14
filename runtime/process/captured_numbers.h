#pragma once
// Numbers of the process as they were at the firing, if they were captured. Probe context.

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "dvm/vm/host.h"
#include "runtime/process/scheduling.h"

namespace dvm::runtime {

// Elements of dvm_process[] by their names.
namespace process_number {
enum : unsigned {
#define DVM_PROCESS_ID(name, type, field, further) name,
#include "runtime/process/process_ids.def"
  // of the thread:
  policy,
  nice,
  priority,
  // of the CPU, and only from a uprobe:
  running = 19,
  // of the parent: its name, eight characters each; also only from a uprobe
  parent_name = 22,
  parent_name_end,
};
}  // namespace process_number

// The bytes that were captured under this number of vm::CapturedMemory. Empty: they were not.
inline std::span<const std::byte> captured_of_process(std::span<const vm::CapturedMemory> memory, int64_t which) noexcept {
  const auto is_it = [&](const vm::CapturedMemory& one) { return one.is_file && one.address == static_cast<uint64_t>(which); };
  const auto found = std::find_if(memory.begin(), memory.end(), is_it);
  return found == memory.end() ? std::span<const std::byte>() : found->bytes;
}

// Element `number` of dvm_process[].
inline std::optional<int64_t> captured_number(std::span<const vm::CapturedMemory> memory, uint64_t number) noexcept {
  const auto bytes = captured_of_process(memory, vm::CapturedMemory::kProcessNumber + static_cast<int64_t>(number));
  int64_t value = 0;
  if (bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return number == process_number::policy && value >= 0 ? value & ~int64_t{kResetOnFork} : value;
}

// The name of the parent.
class CapturedParentName {
 public:
  // Null: it was not captured. Valid until the next call.
  std::string_view find(std::span<const vm::CapturedMemory> memory) noexcept {
    const auto first = captured_number(memory, process_number::parent_name);
    const auto last = captured_number(memory, process_number::parent_name_end);
    if (!first || !last) return {};
    std::memcpy(text_, &*first, sizeof *first);
    std::memcpy(text_ + sizeof *first, &*last, sizeof *last);
    return {text_, strnlen(text_, sizeof text_)};
  }

 private:
  char text_[16] = {};
};

// True if this process is an ancestor.
inline bool is_captured_ancestor(std::span<const vm::CapturedMemory> memory, int64_t pid) noexcept {
  const auto bytes = captured_of_process(memory, vm::CapturedMemory::kAncestors);
  for (size_t at = 0; at + sizeof pid <= bytes.size(); at += sizeof pid)
    if (pid > 0 && std::memcmp(bytes.data() + at, &pid, sizeof pid) == 0) return true;
  return false;
}

}  // namespace dvm::runtime
