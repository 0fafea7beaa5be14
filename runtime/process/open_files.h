#pragma once
// Describes an open file for fds[], by /proc/PID/fd, fdinfo and mountinfo. It reads them when a clause runs, not when the probe
// fired. Probe context.

#include <array>
#include <cstdint>
#include <string_view>

namespace dvm::runtime {

class OpenFiles {
 public:
  // By the numbers of dvm_file_number[] and dvm_file_text[] (variables.def): 8 times the descriptor, plus which one.
  static int64_t number(int32_t pid, uint64_t index) noexcept;
  // Empty: there is no such file. Valid until the next call.
  std::string_view text(int32_t pid, uint64_t index) noexcept;

 private:
  std::string_view mount(int32_t pid, int64_t id, bool wants_type, std::string_view otherwise) noexcept;

  std::array<char, 4096> text_{};     // PATH_MAX
  std::array<char, 65536> mounts_{};  // what lies behind is not found
};

}  // namespace dvm::runtime
