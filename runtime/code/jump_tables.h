#pragma once
// Reads the tables that compilers make of `switch`.
//
//   lea table(%rip), %rB                 jmp *table(,%rI,8)    where addresses are fixed
//   movslq (%rB,%rI,4), %rX
//   add %rB, %rX
//   jmp *%rX
//
// Without optimisation they write
//
//   lea 0(,%rI,4), %rA                   mov table(,%rI,8), %rX
//   lea table(%rip), %rax                jmp *%rX
//   mov (%rA,%rax), %eax
//   cltq
//   lea table(%rip), %rB
//   add %rB, %rax
//   jmp *%rax
//
// The number of entries is not read. What follows a table is taken for entries of it, so more targets are found than there are,
// but none is missed. Where a base comes from is followed back on all paths that lead to the jump. If one of them is not
// understood, no table of the function is known.
//
// Files are untrusted: all reads are bounded. Consumer context.

#include <compare>
#include <cstdint>
#include <functional>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// By addresses as the file has them.
struct JumpTable {
  uint64_t address = 0;
  bool is_absolute = false;  // eight bytes an entry, each an address
  auto operator<=>(const JumpTable&) const = default;

  static constexpr size_t kMostEntries = 65536;
  size_t entry_bytes() const { return is_absolute ? 8 : 4; }
  // memory: from the table on. At most kMostEntries.
  size_t count(CodeBytes memory) const;
  uint64_t target(CodeBytes memory, size_t entry) const;
};

struct TableSource {
  uint64_t function = 0;                                 // address of its first byte
  std::function<CodeBytes(uint64_t address)> constants;  // from there on, in one segment that is neither code nor writable
  std::function<bool(uint64_t address)> is_code;
  bool is_fixed = false;  // the addresses are those in the process
};

// Sets table_targets, knows_tables and tables.
void read_jump_tables(CodeBytes code, FunctionCode& function, const TableSource& source);

}  // namespace dvm::runtime
