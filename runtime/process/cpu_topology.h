#pragma once
// The package, the NUMA node and the clock of a CPU, from /sys. They are read at the first call for a CPU. Probe context: nothing
// here allocates after construction, locks or throws.

#include <array>
#include <cstdint>
#include <vector>

namespace dvm::runtime {

class CpuTopology {
 public:
  // -1: unknown.
  int32_t chip_of(int32_t cpu) noexcept { return of(cpu).chip; }
  int32_t node_of(int32_t cpu) noexcept { return of(cpu).node; }
  // MHz
  int32_t clock_of(int32_t cpu) noexcept { return of(cpu).clock; }

 private:
  struct Position {
    bool is_known = false;
    int32_t chip = -1, node = -1, clock = -1;
  };
  const Position& of(int32_t cpu) noexcept;

  const Position unknown_{};
  std::array<Position, 1024> places_{};
};

// The CPUs that are online. Consumer context.
std::vector<int> online_cpus();

}  // namespace dvm::runtime
