#pragma once
// The table of raised semaphores, behind the armed page (format.h).

#include <cstdint>

namespace dvm::runtime::inside {

// A semaphore that dvm has raised, for one site. It is lowered only as long as the jump of the site lies in the code: otherwise
// its file is mapped no more, and the memory may be another's.
enum class SemaphoreState : uint32_t { off, raising, raised, wanted, lowering };  // wanted: is to be lowered
struct Semaphore {
  uint64_t counter = 0;   // address of the semaphore, of 16 bits
  uint64_t jump = 0;      // of the jump
  uint32_t distance = 0;  // the bytes behind the opcode of the jump
  SemaphoreState state = SemaphoreState::off;
  uint64_t distance_bytes = 0;
};
inline constexpr uint8_t kShortJump = 0xeb;  // has a distance of one byte
inline constexpr uint64_t kSemaphoreBytes = 64 * 4096;
inline constexpr uint64_t kMostSemaphores = kSemaphoreBytes / sizeof(Semaphore) - 1;
struct Semaphores {
  uint64_t count = 0, reserved[3]{};
  Semaphore all[kMostSemaphores]{};
};
constexpr uint64_t semaphores_at(uint64_t armed_page) { return armed_page + 4096; }
static_assert(sizeof(Semaphore) == 32 && sizeof(Semaphores) <= kSemaphoreBytes);

}  // namespace dvm::runtime::inside
