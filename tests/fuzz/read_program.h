#pragma once
// A program file from anywhere: it is refused, or holds DIF that the verifier takes or refuses.

#include "dvm/dif/program_file.h"
#include "dvm/vm/verify.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

inline constexpr size_t kProgramHead = 12 + 4 + 8 + 8;

// Size and checksum as they would be if the payload were what was meant.
inline void seal_program(std::string& bytes) {
  if (bytes.size() < kProgramHead) return;
  const auto put = [&](size_t at, uint64_t value) {
    for (size_t i = 0; i < 8; i++) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = kProgramHead; i < bytes.size(); i++) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  put(16, bytes.size() - kProgramHead);
  put(24, hash);
}

// True when the file was taken.
inline bool read_program(const std::string& bytes) {
  const Result<dif::ProgramFile> file = dif::from_bytes(bytes);
  if (!file) {
    require(!file.error().message.empty(), "what is refused is refused for a reason");
    return false;
  }
  for (const dif::NamedProgram& program : file->programs)
    for (const dif::EcbDesc& clause : program.program.clauses)
      for (const dif::ActDesc& action : clause.actions)
        for (const dif::RecDesc& arg : action.args) (void)vm::verify(arg.difo);
  return true;
}

}  // namespace dvm::fuzz
