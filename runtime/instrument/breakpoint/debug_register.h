#pragma once
// An execution breakpoint in one thread: a perf event on one of the processor's debug registers. It lasts as long as its file
// descriptor, and ends at exec. A thread that reaches it is sent SIGURG by the kernel and takes it before the instruction runs.

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/file_descriptor.h"

namespace dvm::runtime {

inline constexpr size_t kDebugRegisters = 4;

class DebugRegister {
 public:
  // Empty, with errno set, if it fails.
  static DebugRegister set(pid_t tid, uint64_t address);

  explicit operator bool() const { return static_cast<bool>(event_); }
  uint64_t address() const { return address_; }
  int descriptor() const { return event_.get(); }
  // How often the address was reached.
  uint64_t hits() const;

 private:
  FileDescriptor event_;
  uint64_t address_ = 0;
};

// Why a debug register cannot be set, and what to do about it.
std::string debug_register_reason(int error_number);

}  // namespace dvm::runtime
