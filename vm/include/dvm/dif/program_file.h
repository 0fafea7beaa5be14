#pragma once
// The file format of compiled programs, comparable to DTrace's DOF. `dvm compile --dif` writes it, `dvm exec` runs it.
//
//   magic    "dvm program\n"
//   u32      version
//   u64      bytes of the payload
//   u64      FNV-1a of the payload
//   payload  the structures of program.h, field by field in their order
//
// Numbers are little-endian. A string or list is its length (u32), then its contents. An optional field is a byte, 0 or 1, then
// its contents if the byte is 1. Files are untrusted: the reader checks every length and value. It does not check the DIF, which
// is verified when the program is enabled. Consumer context.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/program.h"

namespace dvm::dif {

// The result of one source. The probe descriptions may hold $target.
struct NamedProgram {
  std::string name;             // of the script; of -n, the text
  bool is_description = false;  // from -n
  Program program;
};

struct ProgramFile {
  std::vector<NamedProgram> programs;
  std::vector<std::string> settings;  // options, as name or name=value, in the order in which they are applied
};

std::string to_bytes(ProgramFile file);
// The error says why the bytes are not a program file.
Result<ProgramFile> from_bytes(std::string_view bytes);

}  // namespace dvm::dif
