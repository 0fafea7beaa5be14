#pragma once
// The buffers of each CPU. Those for the CPUs of this machine are made when tracing starts. Those for further CPUs of a recording
// are made when they first fire. A recording may name many CPUs, so all buffers together take at most half of the memory.

#include <vector>

#include "runtime/buffer/principal_buffer.h"
#include "runtime/buffer/sources.h"

namespace dvm::runtime {

// The limit for the buffers of one CPU, so that those of all CPUs take at most half of the memory of the machine, or of the limit
// of this process.
size_t memory_for_each(unsigned cpus);

struct CpuBuffer {
  PrincipalBuffer principal;
  uint64_t aggregation_drops = 0;
  bool is_made = false;  // false: the CPU has not fired, and has no buffers
};

class CpuBuffers final : public RecordSource {
 public:
  static constexpr unsigned kMostCpus = 8192;  // as many as Linux can have

  // Makes the buffers of CPUs 0 to cpus - 1. False: there is not enough memory.
  bool allocate(const BufferPlan& plan, unsigned cpus);
  // Makes the buffers of a CPU that has none yet; smaller ones if the others take a quarter of the memory. If there is no memory,
  // records of the CPU are dropped. Consumer context.
  void meet(int32_t cpu);

  // Null: the CPU has no buffers, or its number is invalid.
  CpuBuffer* find(int32_t cpu) noexcept { return knows(cpu) ? &buffers_[static_cast<uint32_t>(cpu)] : nullptr; }
  bool knows(int32_t cpu) const noexcept {
    return static_cast<uint32_t>(cpu) < buffers_.size() && buffers_[static_cast<uint32_t>(cpu)].is_made;
  }
  // A CPU without buffers uses those of CPU 0.
  CpuBuffer& operator[](int32_t cpu) noexcept { return buffers_[knows(cpu) ? static_cast<size_t>(cpu) : 0]; }

  // A lane for each CPU that has recorded something.
  std::vector<RecordLane> take_records() override;

  // By number, including CPUs without buffers.
  std::vector<CpuBuffer>& all() { return buffers_; }
  const std::vector<CpuBuffer>& all() const { return buffers_; }
  // True if the buffers of a CPU should be read now, before records are dropped.
  bool wants_reading() const noexcept override;
  bool is_filled() const noexcept;
  void open_reserve() noexcept;

 private:
  BufferPlan plan_of_next() const;
  bool make(CpuBuffer& cpu, const BufferPlan& plan);

  BufferPlan plan_;
  std::vector<CpuBuffer> buffers_;
  size_t made_ = 0;
};

}  // namespace dvm::runtime
