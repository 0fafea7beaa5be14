#include "runtime/agent/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/file_bytes.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {

Result<AgentMemory> AgentMemory::open(pid_t pid) {
  FileDescriptor file(::open((memory_folder(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return Error{fmt::format("the memory of process {} cannot be opened: {}", pid, std::strerror(errno))};
  return AgentMemory(std::move(file));
}

bool AgentMemory::read(uint64_t address, std::span<std::byte> to) const noexcept { return read_at(file_.get(), address, to); }

// There is an error if the address is not mapped.
bool AgentMemory::is_gone() const noexcept {
  char byte = 0;
  return ::pread(file_.get(), &byte, sizeof byte, 0) == 0;
}

bool AgentMemory::write(uint64_t address, std::span<const std::byte> from) const noexcept {
  return write_at(file_.get(), address, from);
}

}  // namespace dvm::runtime
