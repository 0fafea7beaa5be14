// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/suspects.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "runtime/agent/address_space.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPieceBytes = 4096;  // a page: what follows it may not be readable

bool is_inside(const AddressRange& window, uint64_t address) { return address > window.begin && address < window.end; }

auto find_moved(std::span<const MovedInstruction> moved, uint64_t offset) {
  return std::find_if(moved.begin(), moved.end(), [&](const MovedInstruction& one) { return one.from == offset; });
}

}  // namespace

Suspects::Suspects(const StoppedProcess& process, const AgentMemory& memory, std::vector<AddressRange> windows)
    : windows_(std::move(windows)) {
  std::sort(windows_.begin(), windows_.end(), [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  const auto mappings = mappings_of(process.pid());
  for (const HeldThread& thread : process.threads()) {
    AddressRange stack{thread.registers.rsp, thread.registers.rsp + kMostStack};
    if (mappings)
      if (const MemoryMapping* its = mapping_at(*mappings, stack.begin)) stack.end = std::min(stack.end, its->range.end);
    look(memory, stack);
    counters_.push_back(thread.registers.rip);
  }
  std::sort(returns_.begin(), returns_.end());
  std::sort(counters_.begin(), counters_.end());
}

// In pieces, up to what cannot be read.
void Suspects::look(const AgentMemory& memory, const AddressRange& stack) {
  if (windows_.empty()) return;
  const uint64_t first = windows_.front().begin, last = windows_.back().end;
  std::array<uint64_t, kPieceBytes / sizeof(uint64_t)> words;
  for (uint64_t at = stack.begin & ~(sizeof(uint64_t) - 1); at < stack.end;) {
    const uint64_t piece = std::min(stack.end, (at & ~(kPieceBytes - 1)) + kPieceBytes);
    const auto read = std::span(words).first((piece - at) / sizeof(uint64_t));
    if (!memory.read(at, std::as_writable_bytes(read))) return;
    for (const uint64_t word : read) {
      if (word <= first || word >= last) continue;
      const auto after = std::upper_bound(windows_.begin(), windows_.end(), word,
                                          [](uint64_t a, const AddressRange& one) { return a < one.begin; });
      if (after != windows_.begin() && is_inside(*std::prev(after), word)) returns_.push_back(word);
    }
    at = piece;
  }
}

bool Suspects::has_inside(const std::vector<uint64_t>& sorted, const AddressRange& window) {
  const auto found = std::upper_bound(sorted.begin(), sorted.end(), window.begin);
  return found != sorted.end() && *found < window.end;
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
