#pragma once
// Describes an open file of the process of a firing, for fds[]. The data were captured at the firing (captured_file.h). If
// nothing was captured and the process waits until the clause has run, they come from /proc/PID/fd, fdinfo and mountinfo.
// Otherwise they are unknown, because the descriptor may refer to another file by now. Probe context.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dvm/vm/host.h"
#include "runtime/process/captured_file.h"

namespace dvm::runtime {

class OpenFiles {
 public:
  static constexpr std::string_view kUnknown = "<unknown>";

  // has_process: /proc can be read. The firing's memory must outlive the calls below.
  void serve(const vm::Firing& firing, bool has_process) noexcept {
    pid_ = firing.pid, memory_ = firing.memory, waits_ = firing.reads_in_time && has_process, has_process_ = has_process;
  }

  // index: of dvm_file_number[] and dvm_file_text[] (variables.def), 8 times the descriptor plus the number of the member. -1:
  // not known.
  int64_t number(uint64_t index) noexcept;
  // Empty: there is no such file. Valid until the next call.
  std::string_view text(uint64_t index) noexcept;
  // At the firing. Empty: it was not captured, and the process does not wait.
  std::string_view working_directory() noexcept;
  // The number of reads of an unknown member.
  uint64_t unknown() const noexcept { return unknown_; }

 private:
  // False: the file is not known, which is counted.
  bool is_known(int32_t descriptor) noexcept;
  bool find_captured(uint64_t descriptor) noexcept;
  int64_t captured_flags(int32_t descriptor) const noexcept;
  std::string_view captured_text(int32_t descriptor, unsigned which) noexcept;
  std::string_view captured_path(int32_t descriptor) noexcept;
  std::string_view special_path() noexcept;
  std::string_view join(std::string_view names, bool is_unlinked) noexcept;
  std::string_view names() const noexcept;
  std::string_view link(int32_t descriptor) noexcept;
  std::string_view read_link(const char* name) noexcept;  // in the folder of the process in /proc
  bool is_still(int32_t descriptor, std::string_view path) const noexcept;
  std::string_view text_of_waiting(int32_t descriptor, unsigned which) noexcept;
  std::string_view mount(int64_t id, bool wants_type, std::string_view otherwise) noexcept;

  int32_t pid_ = 0;
  uint64_t unknown_ = 0;
  std::span<const vm::CapturedMemory> memory_;
  bool waits_ = false, has_process_ = false, is_captured_ = false;
  CapturedFile file_{};
  std::array<char, 4096> text_{};     // PATH_MAX
  std::array<char, 65536> mounts_{};  // the beginning of mountinfo; later mounts are not found
};

}  // namespace dvm::runtime
