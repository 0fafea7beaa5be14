// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/suspects.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;

bool is_inside(const AddressRange& window, uint64_t address) { return address > window.begin && address < window.end; }

auto find_moved(std::span<const MovedInstruction> moved, uint64_t offset) {
  return std::find_if(moved.begin(), moved.end(), [&](const MovedInstruction& one) { return one.from == offset; });
}

}  // namespace

Suspects::Suspects(const StoppedProcess& process, const AgentMemory& memory, std::vector<AddressRange> windows)
    : windows_(std::move(windows)) {
  std::sort(windows_.begin(), windows_.end(), [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  for (const HeldThread& thread : process.threads()) look(memory, thread.registers.rsp);
}

// Page by page, up to the end of the stack.
void Suspects::look(const AgentMemory& memory, uint64_t stack) {
  if (windows_.empty()) return;
  const uint64_t first = windows_.front().begin, last = windows_.back().end;
  std::array<uint64_t, kPageBytes / sizeof(uint64_t)> words;
  for (uint64_t page = stack & ~(kPageBytes - 1); page < stack + kMostStack; page += kPageBytes) {
    if (!memory.read(page, std::as_writable_bytes(std::span(words)))) return;
    for (const uint64_t word : words) {
      if (word <= first || word >= last) continue;
      const auto after = std::upper_bound(windows_.begin(), windows_.end(), word,
                                          [](uint64_t a, const AddressRange& one) { return a < one.begin; });
      if (after != windows_.begin() && is_inside(*std::prev(after), word)) found_.push_back(word);
    }
  }
}

bool Suspects::may_return_into(const AddressRange& window) const {
  return std::any_of(found_.begin(), found_.end(), [&](uint64_t word) { return is_inside(window, word); });
}

bool can_move_threads(const StoppedProcess& process, const AddressRange& window, std::span<const MovedInstruction> moved) {
  const std::vector<HeldThread>& threads = process.threads();
  return std::all_of(threads.begin(), threads.end(), [&](const HeldThread& thread) {
    const uint64_t at = thread.registers.rip;
    return !is_inside(window, at) || find_moved(moved, at - window.begin) != moved.end();
  });
}

bool move_threads(StoppedProcess& process, const AddressRange& window, std::span<const MovedInstruction> moved, uint64_t copies) {
  for (HeldThread& thread : process.threads()) {
    if (!is_inside(window, thread.registers.rip)) continue;
    const auto place = find_moved(moved, thread.registers.rip - window.begin);
    if (place == moved.end()) return false;
    user_regs_struct registers = thread.registers;
    registers.rip = copies + place->to;
    registers.orig_rax = UINT64_MAX;
    if (!process.set_registers(thread, registers)) return false;
  }
  return true;
}

}  // namespace dvm::runtime
