#pragma once
// The semaphores of a forked child, which it has copied from its parent.

#include <cstdint>

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/read.h"

namespace dvm::runtime::inside {

// True if the jump of the semaphore's site is still in the code. The file may no longer be mapped.
[[gnu::always_inline]] inline bool has_jump(int32_t pid, const Semaphore& one) {
  uint8_t opcode = kShortJump;
  if (one.distance_bytes == 1 && read_memory(pid, one.jump, reinterpret_cast<uint64_t>(&opcode), 1) != 1) return false;
  if (opcode != kShortJump) return false;
  uint32_t distance = 0;
  const uint64_t bytes = one.distance_bytes < sizeof distance ? one.distance_bytes : sizeof distance;
  const bool is_read = read_memory(pid, one.jump + 1, reinterpret_cast<uint64_t>(&distance), bytes) == bytes;
  return is_read && distance == one.distance;
}

// By a system call, because the program may have write-protected it.
[[gnu::always_inline]] inline void lower(int32_t pid, uint64_t counter) {
  constexpr long kWriteProcess = 311;
  uint16_t value = 0;
  const Range local{reinterpret_cast<uint64_t>(&value), sizeof value}, remote{counter, sizeof value};
  if (read_memory(pid, counter, local.address, sizeof value) != sizeof value || value == 0) return;
  value--;
  call(kWriteProcess, pid, reinterpret_cast<long>(&local), 1, reinterpret_cast<long>(&remote), 1, 0);
}

// Lowers those that dvm has raised. The child has one thread and no enabled probes. dvm may lower them at the same time.
DVM_RARELY inline void lower_copied_semaphores(const Context& context) {
  constexpr long kGetPid = 39;
  auto& table = *reinterpret_cast<Semaphores*>(semaphores_at(context.armed));
  const auto pid = static_cast<int32_t>(call(kGetPid));
  for (uint64_t i = 0; i < table.count && i < kMostSemaphores; i++) {
    Semaphore& one = table.all[i];
    SemaphoreState state = one.state;
    const bool is_up = state == SemaphoreState::raised || state == SemaphoreState::wanted;
    if (!is_up || !has_jump(pid, one)) continue;
    SemaphoreState off = SemaphoreState::off;
    const bool is_taken = __atomic_compare_exchange(&one.state, &state, &off, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    if (is_taken) lower(pid, one.counter);
  }
}

}  // namespace dvm::runtime::inside
