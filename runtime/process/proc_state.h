#pragma once
// Processes other than that of the firing, and the system, as /proc shows them now. Probe context.

#include <array>
#include <cstdint>
#include <string_view>

#include "dvm/vm/host.h"

namespace dvm::runtime {

// Element of dvm_proc_number[] (variables.def). vm::Host::kNoNumber: there is none, or the process did not exist at `time`, since
// its id was another's then. time: of CLOCK_MONOTONIC; 0: any process.
int64_t proc_number(uint64_t index, uint64_t time) noexcept;
// True for an element of a process, not of the system.
bool is_of_process(uint64_t index) noexcept;

// The element of dvm_proc_text[] that is the name of the parent at the firing; not in /proc.
inline constexpr uint64_t kParentNameIndex = (uint64_t{16} << 32) + 5;

// Element of dvm_proc_text[]. Null: there is none, as above.
class ProcTexts {
 public:
  std::string_view find(uint64_t index, uint64_t time) noexcept;

 private:
  std::string_view read(uint64_t index) noexcept;

  std::array<char, 4096> text_{};
};

}  // namespace dvm::runtime
