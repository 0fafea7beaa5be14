#pragma once
// Signal actions of a traced process that dvm has replaced, so that loads of dvm's code which fault go on (inside/caught.h).

#include <cstdint>

namespace dvm::runtime::inside {

inline constexpr uint64_t kBusError = 7, kSegmentFault = 11;
inline constexpr uint64_t kCaughtSignals[] = {kSegmentFault, kBusError};
inline constexpr uint64_t kCaughtCount = 2;

// The argument of rt_sigaction(2).
struct KernelAction {
  uint64_t handler = 0;  // kDefault or kIgnored: there is none
  uint64_t flags = 0, restorer = 0, mask = 0;
};
inline constexpr uint64_t kDefault = 0, kIgnored = 1;
inline constexpr uint64_t kActionInfo = 4, kActionRestorer = 0x04000000, kActionOnStack = 0x08000000, kActionOnce = 0x80000000;

// In the order of kCaughtSignals. It follows WatchedMemory.
struct CaughtActions {
  uint64_t handler = 0;  // of dvm, in place of those before; 0: it was never placed
  KernelAction before[kCaughtCount]{};
  KernelAction to_set[kCaughtCount]{};  // by a remote call
};

// Part of the armed page.
struct CatchState {
  uint64_t is_on = 0;                  // loads that fault are caught, unless the thread blocks the signals
  KernelAction found[kCaughtCount]{};  // by a remote call
};

}  // namespace dvm::runtime::inside
