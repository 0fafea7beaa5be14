#pragma once

#include <cstdint>
#include <span>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// The place where the code of a site will run.
struct SitePlace {
  uint64_t address = 0;  // of the instruction that is probed
  const inside::Context& context;
  uint64_t context_at = 0;  // the address of the context in the process
  uint64_t code_at = 0;     // of the code of fire.cpp
  inside::CodeEntries entries{};
  bool keeps_flags = true;                         // the code that is probed may read them
  inside::MemoryRange stack{};                     // of the first thread; 0: not known
  std::span<const inside::MemoryRange> lasting{};  // where strings of keys are mostly found (text_code.h)
};

}  // namespace dvm::runtime
