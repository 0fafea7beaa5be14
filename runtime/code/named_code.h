#pragma once
// Finds the addresses of code that a file names other than by direct jumps: pointers that the dynamic linker relocates, operands
// of `lea`, and, where addresses are fixed, words of data and immediate operands. An indirect jump may lead to each of them.
//
//   .data.rel.ro:  .quad case_1, case_2      R_X86_64_RELATIVE, R_X86_64_64, or DT_RELR
//   lea case_1(%rip), %rax                   mov $case_1, %eax
//
// Others that the C library leads to are landing pads (landing_pads.h). Where the kernel leads to, restarts.h finds.
//
// Bytes are read at every offset, so some of these addresses are named by nothing. Addresses that code makes in another way, such
// as from the return address of a call, are missed; computed_jumps.h finds sums. Files are untrusted: all reads and all memory
// are bounded. Consumer context.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/code/naming_file.h"

namespace dvm::runtime {

// By addresses as the file has them, ascending, without duplicates.
struct NamedCode {
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> taken;  // all that code takes, of data too; a table may lie there
  bool is_complete = true;      // false: there are too many
  // Words that the dynamic linker stores, and the address in each.
  std::vector<std::pair<uint64_t, uint64_t>> pointers;

  // True if one of them is greater than `begin` and at most `last`.
  bool has_inside(uint64_t begin, uint64_t last) const;
  // What the dynamic linker stores there.
  std::optional<uint64_t> pointer_at(uint64_t address) const;
};

NamedCode find_named_code(const NamingFile& file);

}  // namespace dvm::runtime
