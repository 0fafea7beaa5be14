#pragma once
// Any bytes as a program of Go: its version, its functions, and who made them.

#include <utility>

#include "runtime/symbol/go_functions.h"
#include "runtime/symbol/go_program.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

// The table of functions alone: needs nothing but the bytes. True if there is one.
inline bool read_go_functions(std::string_view bytes, uint64_t text) {
  using Maker = runtime::GoFunctions::Maker;
  const auto functions = runtime::GoFunctions::read({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, text);
  if (!functions) return false;
  for (uint64_t offset = 0; offset < 64; offset++) {
    const Maker maker = functions->maker_of(text + offset);
    require(maker == Maker::unknown || maker == Maker::compiler || maker == Maker::assembler, "a function has a maker or none");
    require(maker == functions->maker_of(text + offset), "the table says the same each time");
  }
  (void)functions->maker_of(UINT64_MAX), (void)functions->maker_of(0);
  return true;
}

// True if it is a program of Go.
inline bool read_go(MemoryFile& file, std::string_view bytes) {
  require(file.write(bytes), "the input can be written to memory");
  const auto code = runtime::ModuleCode::open(file.path());
  const auto elf = runtime::ElfObject::read(file.path());
  if (!code || !elf) return false;
  const auto program = runtime::GoProgram::read(**code, **elf);
  if (!program) return false;
  require(program->version() < 10000, "a version is a small number");
  for (const runtime::ElfFunction& function : (*elf)->functions()) (void)program->abi_of(function);
  if (program->text()) read_go_functions(bytes, *program->text());
  return true;
}

}  // namespace dvm::fuzz
