#pragma once
// Finds the addresses of code that a file names other than by direct jumps: pointers that the dynamic linker relocates, operands
// of `lea`, and, where addresses are fixed, words of data and immediate operands. An indirect jump may lead to each of them.
//
//   .data.rel.ro:  .quad case_1, case_2      R_X86_64_RELATIVE, R_X86_64_64, or DT_RELR
//   lea case_1(%rip), %rax                   mov $case_1, %eax
//
// Others that the C library and the kernel lead to are landing pads (landing_pads.h), and where restartable sequences (rseq)
// continue when they are aborted. Instructions of such a sequence may not be executed elsewhere: it would not be aborted there.
// Sequences are known by their descriptors in the file; those that code builds, such as on the stack, are missed.
//
// Bytes are read at every offset, so some of these addresses are named by nothing. Addresses that code makes in another way, such
// as from the return address of a call, are missed; computed_jumps.h finds sums. Files are untrusted: all reads and all memory
// are bounded. Consumer context.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// Stands before each address where a restartable sequence is aborted.
constexpr uint32_t kRestartSignature = 0x53053053;

// A loaded segment of a file.
struct FileSegment {
  uint64_t offset = 0, size = 0, address = 0;
  bool has_address(uint64_t one) const { return one >= address && one - address < size; }
};

struct NamingFile {
  CodeBytes file;
  std::span<const FileSegment> code, data;
  FileSegment dynamic{};
  uint64_t frame_index = 0;  // address of .eh_frame_hdr; 0: there is none
  bool is_fixed = false;     // addresses of the file are those in the process
};

// By addresses as the file has them, ascending, without duplicates.
struct NamedCode {
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> taken;  // all that code takes, of data too; a table may lie there
  bool is_complete = true;      // false: there are too many
  // Words that the dynamic linker stores, and the address in each.
  std::vector<std::pair<uint64_t, uint64_t>> pointers;
  // First and last address of each restartable sequence, and of the signature before the address where it is aborted.
  std::vector<std::pair<uint64_t, uint64_t>> sequences;
  bool has_all_sequences = true;  // false: there are too many, and any instruction may lie in one

  // True if one of them is greater than `begin` and at most `last`, or if a restartable sequence lies there.
  bool has_inside(uint64_t begin, uint64_t last) const;
  bool is_restarted(uint64_t begin, uint64_t last) const;
  // What the dynamic linker stores there.
  std::optional<uint64_t> pointer_at(uint64_t address) const;
};

NamedCode find_named_code(const NamingFile& file);

}  // namespace dvm::runtime
