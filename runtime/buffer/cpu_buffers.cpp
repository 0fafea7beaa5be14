// Tested by tests/unit/runtime/buffer_test.cpp.

#include "runtime/buffer/cpu_buffers.h"

#include <unistd.h>

#include <algorithm>

namespace dvm::runtime {

size_t memory_for_each(unsigned cpus) {
  const auto pages = static_cast<size_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 2 / cpus;
}

bool CpuBuffers::allocate(const BufferPlan& plan, unsigned cpus) {
  plan_ = plan;
  buffers_.clear();
  if (plan.memory() > memory_for_each(cpus)) return false;
  buffers_.resize(cpus);
  return std::all_of(buffers_.begin(), buffers_.end(), [&](CpuBuffer& cpu) { return cpu.principal.allocate(plan); });
}

void CpuBuffers::meet(int32_t cpu) {
  if (cpu < 0 || static_cast<unsigned>(cpu) >= kMostCpus) return;
  while (!knows(cpu)) buffers_.emplace_back().principal.allocate(plan_);
}

bool CpuBuffers::is_filled() const noexcept {
  return std::any_of(buffers_.begin(), buffers_.end(), [](const CpuBuffer& cpu) { return cpu.principal.is_filled(); });
}

void CpuBuffers::open_reserve() noexcept {
  for (CpuBuffer& cpu : buffers_) cpu.principal.open_reserve();
}

}  // namespace dvm::runtime
