#pragma once
// A host whose process is a few pieces of memory: what a late read finds.

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "dvm/vm/host.h"

namespace dvm::vm::test {

class MockHost final : public Host {
 public:
  std::map<uint64_t, std::string> memory;  // by address
  std::map<uint64_t, uint64_t> registers;
  int32_t parent = 42;
  int64_t user = 1000, group = 1001;
  std::string arguments;  // the command line
  unsigned reads = 0;

  bool read(uint64_t address, std::span<std::byte> to) noexcept override {
    reads++;
    const std::string_view found = at(address);
    if (found.size() < to.size()) return false;
    if (!to.empty()) std::memcpy(to.data(), found.data(), to.size());
    return true;
  }
  std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept override {
    reads++;
    std::string_view found = at(address);
    if (found.empty()) return -1;
    found = found.substr(0, std::min(found.find('\0'), to.size()));
    std::copy(found.begin(), found.end(), to.begin());
    if (found.size() < to.size()) to[found.size()] = '\0';
    return static_cast<std::ptrdiff_t>(found.size());
  }
  int32_t ppid() noexcept override { return parent; }
  int64_t uid() noexcept override { return user; }
  int64_t gid() noexcept override { return group; }
  std::string_view command_line() noexcept override { return arguments; }
  bool user_register(uint64_t number, uint64_t& value) noexcept override {
    const auto found = registers.find(number);
    if (found == registers.end()) return false;
    value = found->second;
    return true;
  }

 private:
  std::string_view at(uint64_t address) const noexcept {
    for (const auto& [begin, bytes] : memory)
      if (address - begin < bytes.size()) return std::string_view(bytes).substr(address - begin);
    return {};
  }
};

}  // namespace dvm::vm::test
