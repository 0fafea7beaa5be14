#pragma once
// An ELF file from anywhere: what is read of it is looked at.

#include "runtime/symbol/call_frames.h"
#include "runtime/symbol/elf.h"
#include "tests/fuzz/fuzz_support.h"

// libelf 0.188 loses the names of sections that lie askew in a damaged file.
extern "C" __attribute__((used, visibility("default"))) inline const char* __lsan_default_suppressions() {
  return "leak:libelf.so\n";
}

namespace dvm::fuzz {

// Its call frames: rules for the addresses of its functions.
inline void read_call_frames(const MemoryFile& file, const runtime::ElfObject& elf) {
  const auto frames = runtime::CallFrames::open(file.path());
  if (!frames) return;
  (void)frames->keeps_frame_pointers();
  for (const runtime::ElfFunction& function : elf.functions())
    for (const uint64_t address : {function.address, function.address + function.size / 2}) {
      const runtime::FrameRule& rule = frames->at(address);
      require(rule.begin <= address && address < rule.end, "a rule is of the address that was asked for");
      require(rule.cfa_base < runtime::kFrameRegisters, "a frame begins at a register");
    }
}

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
  read_call_frames(file, **elf);
  return true;
}

}  // namespace dvm::fuzz
