// Tested by tests/unit/runtime/buffer_test.cpp.

#include "runtime/buffer/cpu_buffers.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace dvm::runtime {

size_t memory_for_each(unsigned cpus) {
  const auto pages = static_cast<size_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0) limit.rlim_cur = RLIM_INFINITY;
  return std::min<size_t>(pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)), limit.rlim_cur) / 2 / cpus;
}

bool CpuBuffers::make(CpuBuffer& cpu, const BufferPlan& plan) {
  made_++;
  cpu.is_made = true;
  return cpu.principal.allocate(plan);
}

bool CpuBuffers::allocate(const BufferPlan& plan, unsigned cpus) {
  plan_ = plan;
  buffers_.clear();
  made_ = 0;
  if (plan.memory() > memory_for_each(cpus)) return false;
  buffers_.resize(cpus);
  return std::all_of(buffers_.begin(), buffers_.end(), [&](CpuBuffer& cpu) { return make(cpu, plan); });
}

// All that there can be have room in the other quarter.
BufferPlan CpuBuffers::plan_of_next() const {
  if (plan_.memory() <= memory_for_each(2) / (made_ + 1)) return plan_;
  BufferPlan plan = plan_;
  plan.bytes = std::min(plan.bytes, memory_for_each(2 * 2 * kMostCpus));
  return plan;
}

void CpuBuffers::meet(int32_t cpu) {
  const auto number = static_cast<uint32_t>(cpu);
  if (number >= kMostCpus || knows(cpu)) return;
  if (number >= buffers_.size()) buffers_.resize(number + 1);
  make(buffers_[number], plan_of_next());
}

std::vector<RecordLane> CpuBuffers::take_records() {
  std::vector<RecordLane> lanes;
  for (size_t cpu = 0; cpu < buffers_.size(); cpu++)
    for (const std::span<const std::byte> records : buffers_[cpu].principal.take())
      if (!records.empty()) lanes.push_back({static_cast<int32_t>(cpu), records});
  return lanes;
}

bool CpuBuffers::wants_reading() const noexcept {
  return std::any_of(buffers_.begin(), buffers_.end(), [](const CpuBuffer& cpu) { return cpu.principal.wants_reading(); });
}

bool CpuBuffers::is_filled() const noexcept {
  return std::any_of(buffers_.begin(), buffers_.end(), [](const CpuBuffer& cpu) { return cpu.principal.is_filled(); });
}

void CpuBuffers::open_reserve() noexcept {
  for (CpuBuffer& cpu : buffers_) cpu.principal.open_reserve();
}

}  // namespace dvm::runtime
