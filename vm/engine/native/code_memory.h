#pragma once
// Memory that holds machine code: written once, then executable and no longer writable.

#include <cstddef>
#include <span>
#include <string>

namespace dvm::vm::native {

class CodeMemory {
 public:
  CodeMemory() = default;
  ~CodeMemory();
  CodeMemory(CodeMemory&& other) noexcept;
  CodeMemory& operator=(CodeMemory&& other) noexcept;

  // Maps a copy of the code. Returns the error; empty: it succeeded.
  std::string map(std::span<const std::byte> code);
  void* begin() const { return memory_; }

 private:
  void* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace dvm::vm::native
