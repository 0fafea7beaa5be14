// Tested by tests/unit/instrument/aborted_sequence_test.cpp.

#include "runtime/agent/aborted_sequence.h"

#include <sys/ptrace.h>

#include <cerrno>
#include <cstdint>
#include <optional>

#include "runtime/agent/rseq_area.h"

namespace dvm::runtime {
namespace {

std::optional<uint64_t> word_at(pid_t tid, uint64_t address) {
  errno = 0;
  const long word = ptrace(PTRACE_PEEKDATA, tid, address, 0);
  return errno == 0 ? std::optional(static_cast<uint64_t>(word)) : std::nullopt;
}

}  // namespace

user_regs_struct out_of_sequence(pid_t tid, user_regs_struct registers) {
  constexpr uint64_t kSequenceAt = 8, kBeginAt = 8, kBytesAt = 16, kAbortAt = 24;  // in the area, and in its descriptor
  const auto area = rseq_area_of(tid);
  const auto descriptor = area ? word_at(tid, area->address + kSequenceAt) : std::nullopt;
  if (!descriptor || *descriptor == 0) return registers;
  const auto begin = word_at(tid, *descriptor + kBeginAt), bytes = word_at(tid, *descriptor + kBytesAt);
  const auto aborted = word_at(tid, *descriptor + kAbortAt);
  if (begin && bytes && aborted && registers.rip - *begin < *bytes) registers.rip = *aborted;
  return registers;
}

}  // namespace dvm::runtime
