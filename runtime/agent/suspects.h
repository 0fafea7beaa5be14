#pragma once
// Threads of a stopped process that are inside a window, or may return there.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/code/displaced.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// Words on the stacks that lead behind the first byte of a window: a signal frame holds one if a handler has interrupted its
// thread there. A word that only looks so counts as well.
class Suspects {
 public:
  // A stack ends with its mapping. At most kMostStack bytes of each are looked at.
  Suspects(const StoppedProcess& process, const AgentMemory& memory, std::vector<AddressRange> windows);
  bool may_return_into(const AddressRange& window) const { return has_inside(returns_, window); }
  // A thread is behind the first instruction of the window.
  bool stands_in(const AddressRange& window) const { return has_inside(counters_, window); }

 private:
  static constexpr uint64_t kMostStack = 512 * 1024;
  void look(const AgentMemory& memory, const AddressRange& stack);
  static bool has_inside(const std::vector<uint64_t>& sorted, const AddressRange& window);
  std::vector<AddressRange> windows_;  // sorted
  std::vector<uint64_t> returns_;      // sorted
  std::vector<uint64_t> counters_;     // of programs, sorted
};

// True if each thread inside the window is at the beginning of one of its instructions.
bool can_move_threads(const StoppedProcess& process, const AddressRange& window, std::span<const MovedInstruction> moved);
// Moves those threads to the copies of their instructions. False: one is at no instruction, or has ended.
bool move_threads(StoppedProcess& process, const AddressRange& window, std::span<const MovedInstruction> moved, uint64_t copies);

}  // namespace dvm::runtime
