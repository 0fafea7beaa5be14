#pragma once
// The buffers of each CPU, made for the CPUs of this machine when tracing starts and for those that only a recording has when
// they first fire. A recording may name any CPU, and many: together its buffers take at most half of the memory.

#include <vector>

#include "runtime/buffer/principal_buffer.h"
#include "runtime/buffer/sources.h"

namespace dvm::runtime {

// The limit on each CPU's buffers of one kind: together half of the memory of the machine, or of this process's limit.
size_t memory_for_each(unsigned cpus);

struct CpuBuffer {
  PrincipalBuffer principal;
  uint64_t aggregation_drops = 0;
  bool is_made = false;  // false: only a CPU with a higher number has fired
};

class CpuBuffers final : public RecordSource {
 public:
  static constexpr unsigned kMostCpus = 8192;  // as many as Linux can have

  // Makes the buffers of CPUs 0 to cpus - 1. False: there is no memory, or it would be more than the machine has.
  bool allocate(const BufferPlan& plan, unsigned cpus);
  // Consumer context: makes the buffers of a CPU that has none yet, smaller ones once the others take a quarter of the memory.
  // Without memory its records are drops.
  void meet(int32_t cpu);

  // Null: it has none yet, or there cannot be such a CPU.
  CpuBuffer* find(int32_t cpu) noexcept { return knows(cpu) ? &buffers_[static_cast<uint32_t>(cpu)] : nullptr; }
  bool knows(int32_t cpu) const noexcept {
    return static_cast<uint32_t>(cpu) < buffers_.size() && buffers_[static_cast<uint32_t>(cpu)].is_made;
  }
  // A CPU that there cannot be has the buffers of CPU 0.
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
