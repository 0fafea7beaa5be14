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
  int32_t parent = 42;
  int64_t user = 1000, group = 1001;
  std::string arguments;  // the command line
  std::string directory, root;
  std::string file;  // the text that was asked for last
  unsigned reads = 0;
  uint32_t speculations = 0;  // given out

  uint32_t speculation() noexcept override { return ++speculations; }
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
  bool write(uint64_t address, std::span<const std::byte> from) noexcept override {
    for (auto& [begin, bytes] : memory) {
      const uint64_t offset = address - begin;
      if (offset >= bytes.size() || bytes.size() - offset < from.size()) continue;
      std::memcpy(bytes.data() + offset, from.data(), from.size());
      return true;
    }
    return false;
  }
  bool descends_from(int64_t pid) noexcept override { return pid == parent; }
  int32_t ppid() noexcept override { return parent; }
  int64_t uid() noexcept override { return user; }
  int64_t gid() noexcept override { return group; }
  int64_t process_number(uint64_t number) noexcept override { return number < 5 ? 100 + static_cast<int64_t>(number) : -1; }
  std::string_view command_line() noexcept override { return arguments; }
  std::string_view working_directory() noexcept override { return directory; }
  std::string_view root_directory() noexcept override { return root; }
  int64_t file_number(uint64_t number) noexcept override { return number < 80 ? 200 + static_cast<int64_t>(number) : 0; }
  std::string_view file_text(uint64_t number) noexcept override {
    file = "text " + std::to_string(number);
    return number < 80 ? std::string_view(file) : std::string_view();
  }
  int64_t proc_number(uint64_t number) noexcept override { return number < 80 ? 300 + static_cast<int64_t>(number) : kNoNumber; }
  std::string_view proc_text(uint64_t number) noexcept override { return file_text(number); }
  int32_t chip_of(int32_t cpu) noexcept override { return cpu / 8; }
  int32_t node_of(int32_t cpu) noexcept override { return cpu / 16; }

 private:
  std::string_view at(uint64_t address) const noexcept {
    for (const auto& [begin, bytes] : memory)
      if (address - begin < bytes.size()) return std::string_view(bytes).substr(address - begin);
    return {};
  }
};

}  // namespace dvm::vm::test
