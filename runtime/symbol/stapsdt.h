#pragma once
// User-level statically defined tracing: the notes that <sys/sdt.h> and `dvm header` leave in a file, one for each use of a probe
// macro.
//
//   .note.stapsdt   | location | address of .stapsdt.base when linked | semaphore | provider\0 | name\0 | arguments\0 |
//   arguments       "8@%rdi -4@-20(%rbp) 4@$5": the size of each, negative if signed, and its place in assembler syntax
//
// There is a nop at the location. The semaphore is a 16-bit count of the tracers that have enabled the probe. The program may
// check it before it computes expensive arguments. The notes are untrusted. Consumer context.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/catalog/operand.h"

namespace dvm::runtime {

struct StapsdtNote {
  std::string provider, name;
  uint64_t address = 0;            // of the location, in the file
  uint64_t offset = 0;             // of the location in the file
  uint64_t semaphore = 0;          // its offset in the file; 0: there is none, or not in the file
  uint64_t semaphore_address = 0;  // its address, in the file; 0: there is none
  std::string arguments;
};

// The notes whose location is in the code of the file. A file without notes is not an error.
Result<std::vector<StapsdtNote>> read_stapsdt(const std::string& path);

// The place of an argument, or the reason why dvm cannot read it there.
struct StapsdtArgument {
  Operand operand;
  std::string problem;  // empty: there is none
};

// Looks up the address of a symbol in the file.
using SymbolAddress = std::function<std::optional<uint64_t>(std::string_view name)>;

// All arguments of a note at `address`, including those that cannot be read.
std::vector<StapsdtArgument> parse_stapsdt_arguments(std::string_view text, uint64_t address, const SymbolAddress& symbol);

}  // namespace dvm::runtime
