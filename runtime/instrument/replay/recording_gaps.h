#pragma once
// Counts firings that lack something the replayed script reads, because the recorded script did not ask for it. Such values are
// empty, 0 or a fault, and the user is told why. Used by the replay instrument.

#include <cstdint>
#include <string>
#include <vector>

#include "dvm/vm/host.h"
#include "runtime/catalog/operand.h"
#include "runtime/instrument/capture.h"

namespace dvm::runtime {

class RecordingGaps {
 public:
  // Notes a firing and what the clauses on its probe need. has_stack: it fired in a thread of its process;
  // has_kernel_stack: in the kernel.
  void note(const vm::Firing& firing, const CaptureNeeds& needs, bool has_stack, bool has_kernel_stack) noexcept {
    stacks_ += has_stack && needs.frames != 0 && firing.user_stack().empty();
    kernel_stacks_ += has_kernel_stack && needs.kernel_frames != 0 && firing.kernel_stack.empty();
    times_ += needs.vtime && firing.vtimestamp == 0;
    goroutines_ += (needs.args & kGoroutineBit) != 0 && firing.args[kGoroutine] == 0;
    registers_ += needs.registers != 0 && firing.registers.which == 0;
  }
  // A line for each kind of gap that was met since the last call.
  std::vector<std::string> take();

 private:
  uint64_t stacks_ = 0, kernel_stacks_ = 0, times_ = 0, goroutines_ = 0, registers_ = 0;  // firings
};

}  // namespace dvm::runtime
