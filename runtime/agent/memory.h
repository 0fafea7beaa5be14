#pragma once
// The memory of a traced process, by /proc/PID/mem. The descriptor is bound to the address space: after an exec, reads and writes
// fail, and never reach the memory of the next program.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "common/file_descriptor.h"
#include "dvm/common/result.h"

namespace dvm::runtime {

class AgentMemory {
 public:
  static Result<AgentMemory> open(pid_t pid);

  // False: not all of it could be read or written. Writing also reaches code.
  bool read(uint64_t address, std::span<std::byte> to) const noexcept;
  bool write(uint64_t address, std::span<const std::byte> from) const noexcept;

  // True once the process has executed another program, or has ended.
  bool is_gone() const noexcept;

  template <class T>
  bool read_object(uint64_t address, T& to) const noexcept {
    return read(address, std::as_writable_bytes(std::span(&to, 1)));
  }
  template <class T>
  bool write_object(uint64_t address, const T& from) const noexcept {
    return write(address, std::as_bytes(std::span(&from, 1)));
  }

 private:
  explicit AgentMemory(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace dvm::runtime
