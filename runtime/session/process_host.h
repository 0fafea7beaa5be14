#pragma once
// What the DIF asks of the process that fired.

#include "dvm/runtime/handle.h"
#include "runtime/process/target_memory.h"

namespace dvm::runtime {

class ProcessHost final : public vm::Host {
 public:
  explicit ProcessHost(const HandleConfig& config) : is_replay_(config.is_replay) {
    if (is_replay_) memory_.use_recorded(config.recorded_processes);
  }

  void serve(int32_t pid) noexcept { pid_ = pid; }
  uint64_t late_reads() const { return late_reads_; }

  bool read(uint64_t address, std::span<std::byte> to) noexcept override {
    if (is_replay_) return false;
    late_reads_++;
    return memory_.read(pid_, address, to);
  }
  std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept override {
    if (is_replay_) return -1;
    late_reads_++;
    return memory_.read_string(pid_, address, to);
  }
  int32_t ppid() noexcept override { return memory_.ids(pid_).ppid; }
  int64_t uid() noexcept override { return memory_.ids(pid_).uid; }
  int64_t gid() noexcept override { return memory_.ids(pid_).gid; }
  std::string_view command_line() noexcept override { return memory_.command_line(pid_); }
  bool user_register(uint64_t, uint64_t&) noexcept override { return false; }

 private:
  bool is_replay_;
  int32_t pid_ = 0;
  uint64_t late_reads_ = 0;
  TargetMemory memory_;
};

}  // namespace dvm::runtime
