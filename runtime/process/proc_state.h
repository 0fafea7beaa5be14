#pragma once
// Processes other than that of the firing, and the system, as /proc shows them now. Probe context.

#include <array>
#include <cstdint>
#include <string_view>

#include "dvm/vm/host.h"

namespace dvm::runtime {

// Element of dvm_proc_number[] (variables.def). vm::Host::kNoNumber: there is none.
int64_t proc_number(uint64_t index) noexcept;

// Element of dvm_proc_text[]. Null: there is none.
class ProcTexts {
 public:
  std::string_view find(uint64_t index) noexcept;

 private:
  std::array<char, 4096> text_{};
};

}  // namespace dvm::runtime
