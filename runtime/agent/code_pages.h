#pragma once
// Reads code of a stopped process page by page: many places of a page cost one system call.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/agent/memory.h"

namespace dvm::runtime {

class CodePages {
 public:
  explicit CodePages(const AgentMemory& memory) : memory_(memory) {}

  // True if the page held these bytes when it was read.
  bool holds(uint64_t address, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const size_t at = address % kPageBytes, count = std::min(bytes.size(), kPageBytes - at);
      const std::vector<std::byte>& page = page_at(address - at);
      if (page.empty() || std::memcmp(page.data() + at, bytes.data(), count) != 0) return false;
      address += count;
      bytes = bytes.subspan(count);
    }
    return true;
  }

 private:
  static constexpr size_t kPageBytes = 4096, kMostPages = 8192;
  // Empty: it cannot be read.
  const std::vector<std::byte>& page_at(uint64_t address) {
    if (pages_.size() > kMostPages) pages_.clear();  // a table in the process may name any addresses
    const auto [page, is_new] = pages_.try_emplace(address);
    if (!is_new) return page->second;
    page->second.resize(kPageBytes);
    if (!memory_.read(address, page->second)) page->second.clear();
    return page->second;
  }

  const AgentMemory& memory_;
  std::unordered_map<uint64_t, std::vector<std::byte>> pages_;
};

}  // namespace dvm::runtime
