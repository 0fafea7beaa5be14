#pragma once
// Compiled programs as a file, in the spirit of DTrace's DOF: `dvm compile --dif` writes it, `dvm exec` runs it.
//
//   magic    "dvm program\n"
//   u32      version
//   u64      bytes of the payload
//   u64      FNV-1a of the payload
//   payload  the structures of program.h, field by field in their order
//
// Numbers are little-endian; a string or list is its length (u32), then what is in it; what may be missing is a byte, 0 or 1,
// then what it is. A file may come from anywhere: reading it checks every length and value, but not the DIF, which whoever
// enables the program verifies. Consumer context.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/program.h"

namespace dvm::dif {

// The result of one source. The probe descriptions may hold $target.
struct NamedProgram {
  std::string name;             // of the script, or the program's text
  bool is_description = false;  // it was given as text
  Program program;
};

struct ProgramFile {
  std::vector<NamedProgram> programs;
  std::vector<std::string> settings;  // options, name or name=value, in the order in which they are set
};

std::string to_bytes(ProgramFile file);
// The error says what is wrong with the bytes.
Result<ProgramFile> from_bytes(std::string_view bytes);

}  // namespace dvm::dif
