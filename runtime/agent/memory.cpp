#include "runtime/agent/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace dvm::runtime {

Result<AgentMemory> AgentMemory::open(pid_t pid) {
  FileDescriptor file(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return Error{fmt::format("the memory of process {} cannot be opened: {}", pid, std::strerror(errno))};
  return AgentMemory(std::move(file));
}

bool AgentMemory::read(uint64_t address, std::span<std::byte> to) const noexcept {
  while (!to.empty()) {
    const ssize_t size = pread(file_.get(), to.data(), to.size(), static_cast<off_t>(address));
    if (size <= 0) return false;
    address += static_cast<uint64_t>(size);
    to = to.subspan(static_cast<size_t>(size));
  }
  return true;
}

bool AgentMemory::write(uint64_t address, std::span<const std::byte> from) const noexcept {
  while (!from.empty()) {
    const ssize_t size = pwrite(file_.get(), from.data(), from.size(), static_cast<off_t>(address));
    if (size <= 0) return false;
    address += static_cast<uint64_t>(size);
    from = from.subspan(static_cast<size_t>(size));
  }
  return true;
}

}  // namespace dvm::runtime
