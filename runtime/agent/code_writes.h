#pragma once
// Replaces code of a stopped process page by page: many places of a page cost a few system calls.
// Tested by tests/unit/instrument/code_writes_test.cpp.

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "runtime/agent/memory.h"

namespace dvm::runtime {

class CodeWrites {
 public:
  // The bytes are kept by the caller until they are written.
  void add(uint64_t address, std::span<const std::byte> bytes) { pieces_.push_back({address, bytes}); }
  // Returns the addresses of pieces that cannot be written.
  std::set<uint64_t> write(const AgentMemory& memory);

 private:
  struct Piece {
    uint64_t address;
    std::span<const std::byte> bytes;
    uint64_t end() const { return address + bytes.size(); }
  };
  void write_page(const AgentMemory& memory, std::span<const Piece> pieces);
  void write_together(const AgentMemory& memory, std::span<const Piece> pieces, std::span<std::byte> code);

  std::vector<Piece> pieces_;
  std::set<uint64_t> failed_;
};

}  // namespace dvm::runtime
