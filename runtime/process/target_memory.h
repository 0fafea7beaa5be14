#pragma once
// Late reads: what a DIFO asks of the traced process that was not captured at the moment of firing. Probe context: nothing here
// allocates after construction, locks or throws; a failed read is an answer, since the process may be gone.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dvm/runtime/recorded_process.h"

namespace dvm::runtime {

// The command line: its words, parted by blanks. The paths are those that a process in the same mount namespace as dvm would use;
// of a process in another one, those that it uses itself.
enum class ProcessText : uint8_t { command_line, working_directory, root_directory };

inline constexpr size_t kCommandLine = 1024;  // bytes of it that are kept

class TargetMemory {
 public:
  // Copies memory of the process; false: not all of it is readable.
  bool read(int32_t pid, uint64_t address, std::span<std::byte> to) noexcept;
  // Copies to the process; false: not all of that may be written, it is recorded, or it is dvm itself. Where its pages end, what
  // lies before is written.
  bool write(int32_t pid, uint64_t address, std::span<const std::byte> from) noexcept;
  // Copies a string with its NUL, or to.size() bytes of it. Returns the bytes copied without the NUL; -1: not readable. Reads no
  // page beyond the one in which the string ends.
  std::ptrdiff_t read_string(int32_t pid, uint64_t address, std::span<char> to) noexcept;
  // Real ids, from /proc; remembered for a tenth of a second, and for ever once the process is gone.
  ProcessIds ids(int32_t pid) noexcept;
  // Texts that /proc has of the process; empty if unknown, as paths are in a recording. Cached like the ids; valid until the
  // next call.
  std::string_view text(int32_t pid, ProcessText which) noexcept;
  // From now on the answers come from a recording: these processes are known, and nothing is read of any live one, whose pid
  // would be a coincidence. Not in probe context.
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

  std::array<KeptIds, 256> entries_{};               // by pid modulo their number; the latest pid takes the place
  std::array<std::array<KeptText, 32>, 3> texts_{};  // by kind; likewise
  std::vector<RecordedProcess> recorded_;            // by pid
  bool is_recorded_ = false;
};

// Reads /proc/PID/status. Unknown ids stay -1; false: the file cannot be read.
bool read_process_ids(int32_t pid, ProcessIds& ids) noexcept;
// Reads /proc/PID/cmdline, blanks for the NULs between the words. Returns how many bytes; 0: it cannot be read.
size_t read_command_line(int32_t pid, std::span<char> to) noexcept;

}  // namespace dvm::runtime
