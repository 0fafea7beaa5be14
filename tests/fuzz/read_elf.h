#pragma once
// An ELF file from anywhere: what is read of it is looked at.

#include "runtime/symbol/elf.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

// True when the file was read, false when it was refused.
inline bool read_elf(MemoryFile& file, std::string_view bytes) {
  require(file.write(bytes), "the input can be written to memory");
  auto elf = runtime::ElfObject::read(file.path());
  if (!elf) {
    require(!elf.error().message.empty(), "what is refused is refused for a reason");
    return false;
  }
  for (const runtime::ElfFunction& function : (*elf)->functions()) {
    require(!function.name.empty() && function.name.find('\0') == std::string_view::npos, "a function has a name");
    require(function.size > 0 && function.offset <= static_cast<uint64_t>(INT64_MAX), "a function lies in its file");
  }
  return true;
}

}  // namespace dvm::fuzz
