#pragma once
// User-level statically defined tracing: the notes that <sys/sdt.h> and `dvm header` leave in a file, one for each place of the
// code that a probe macro stands at.
//
//   .note.stapsdt   | location | .stapsdt.base as it was linked | semaphore | provider\0 | name\0 | arguments\0 |
//   arguments       "8@%rdi -4@-20(%rbp) 4@$5": for each its size, < 0 if signed, and where it is, as assemblers write it
//
// At the location stands a nop. The semaphore is a 16-bit count of the tracers that have the probe enabled, which the program may
// look at before it goes to the trouble of making arguments. Like all of an ELF file the notes are untrusted. Consumer context.

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
  uint64_t address = 0;    // of the location, as the file has it
  uint64_t offset = 0;     // of the location in the file
  uint64_t semaphore = 0;  // its offset in the file; 0: there is none
  std::string arguments;
};

// Those whose location is code of the file. A file that has none is no error.
Result<std::vector<StapsdtNote>> read_stapsdt(const std::string& path);

// The place of an argument, or the reason why dvm cannot read it there.
struct StapsdtArgument {
  Operand operand;
  std::string problem;  // empty: there is none
};

// The address of a symbol, as the file has it.
using SymbolAddress = std::function<std::optional<uint64_t>(std::string_view name)>;

// The arguments of a note at `address`: one for each, also for those that cannot be read.
std::vector<StapsdtArgument> parse_stapsdt_arguments(std::string_view text, uint64_t address, const SymbolAddress& symbol);

}  // namespace dvm::runtime
