#pragma once
// The rseq area that a stopped thread has registered: PTRACE_GET_RSEQ_CONFIGURATION, since Linux 5.13.

#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace dvm::runtime {

struct RseqArea {
  uint64_t address = 0;
  uint32_t bytes = 0, signature = 0, flags = 0, reserved = 0;
};

inline std::optional<RseqArea> rseq_area_of(pid_t tid) {
  constexpr auto kGetConfiguration = static_cast<__ptrace_request>(0x420f);
  RseqArea area;
  if (ptrace(kGetConfiguration, tid, sizeof area, &area) < 0 || area.address == 0) return std::nullopt;
  return area;
}

}  // namespace dvm::runtime
