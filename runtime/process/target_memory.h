#pragma once
// Late reads: data of the traced process that a DIFO needs and that was not captured at the firing. Probe context: nothing here
// allocates after construction, locks or throws. A failed read is a normal result, because the process may have ended.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dvm/runtime/recorded_process.h"

namespace dvm::runtime {

// The command line has its words separated by blanks. The paths are as dvm would use them if the process is in dvm's mount
// namespace, and otherwise as the process itself uses them.
enum class ProcessText : uint8_t { command_line, working_directory, root_directory };

inline constexpr size_t kCommandLine = 1024;  // the most bytes of a command line

class TargetMemory {
 public:
  // Copies memory of the process; false: not all of it is readable.
  bool read(int32_t pid, uint64_t address, std::span<std::byte> to) noexcept;
  // Copies memory to the process. False: not all of it can be written (the writable beginning is written), or the process is from
  // a recording or dvm itself.
  bool write(int32_t pid, uint64_t address, std::span<const std::byte> from) noexcept;
  // Copies a string with its NUL, or to.size() bytes of it. Returns the bytes copied without the NUL; -1: not readable. Reads no
  // page beyond the one in which the string ends.
  std::ptrdiff_t read_string(int32_t pid, uint64_t address, std::span<char> to) noexcept;
  // Real ids, from /proc. They are cached for a tenth of a second and, after the process has ended, without limit.
  ProcessIds ids(int32_t pid) noexcept;
  // Texts that /proc has of the process; empty if unknown, as paths are in a recording. Cached like the ids; valid until the
  // next call.
  std::string_view text(int32_t pid, ProcessText which) noexcept;
  // Answers from a recording with these processes. Live processes are not read any more, because their pids match only by
  // accident. Not probe context.
  void use_recorded(std::vector<RecordedProcess> processes);

 private:
  struct KeptIds {
    int32_t pid = 0;
    uint64_t read_at = 0;  // ns, CLOCK_MONOTONIC_COARSE
    ProcessIds ids;
  };
  struct KeptText {
    int32_t pid = 0;
    uint64_t read_at = 0;
    size_t size = 0;
    std::array<char, kCommandLine> text;
  };
  ProcessIds live_ids(int32_t pid) noexcept;
  const RecordedProcess* recorded(int32_t pid) const noexcept;
  std::string_view recorded_text(int32_t pid, ProcessText which) const noexcept;

  std::array<KeptIds, 256> entries_{};               // by pid modulo their number; a newer pid replaces an older one
  std::array<std::array<KeptText, 32>, 3> texts_{};  // by kind; likewise
  std::vector<RecordedProcess> recorded_;            // by pid
  bool is_recorded_ = false;
};

// Reads /proc/PID/status. Unknown ids stay -1; false: the file cannot be read.
bool read_process_ids(int32_t pid, ProcessIds& ids) noexcept;
// Reads /proc/PID/cmdline, and replaces the NULs between the words by blanks. Returns the number of bytes; 0: it cannot be read.
size_t read_command_line(int32_t pid, std::span<char> to) noexcept;

}  // namespace dvm::runtime
