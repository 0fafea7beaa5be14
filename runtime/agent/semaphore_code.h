#pragma once
// Code that raises or lowers semaphores of markers, in a thread of the traced process. Each is changed by a locked instruction,
// since other threads and other tracers may change it too. The state of an entry says what was done, so no change is made twice,
// however often the code runs and wherever it is interrupted.

#include <cstdint>

#include "runtime/agent/code_bytes.h"

namespace dvm::runtime {

// The largest count: the kernel treats larger ones as negative.
inline constexpr uint32_t kMostRaised = 0x7fff;

enum class SemaphoreChange : uint8_t { raise, lower };

// Raises all semaphores that are `off`, or lowers all that are `wanted`. begin, end: the addresses of their entries, of type
// inside::Semaphore. One at its limit is `off` afterwards. Changes %rax, %rcx, %rdx, %rsi, %rdi and %r8, and no flags.
void add_semaphore_loop(CodeWriter& code, SemaphoreChange change, uint64_t begin, uint64_t end);

}  // namespace dvm::runtime
