// Covered by tests/unit/vm/native_test.cpp.

#include "vm/engine/native/code_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace dvm::vm::native {

CodeMemory::~CodeMemory() {
  if (memory_) ::munmap(memory_, size_);
}

CodeMemory::CodeMemory(CodeMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}

CodeMemory& CodeMemory::operator=(CodeMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  return *this;
}

std::string CodeMemory::map(std::span<const std::byte> code) {
  CodeMemory mapping;
  void* memory = ::mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::string("no memory for code: ") + std::strerror(errno);
  mapping.memory_ = memory, mapping.size_ = code.size();
  std::memcpy(memory, code.data(), code.size());
  if (::mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0)
    return std::string("the kernel refuses executable memory: ") + std::strerror(errno);
  *this = std::move(mapping);
  return {};
}

}  // namespace dvm::vm::native
