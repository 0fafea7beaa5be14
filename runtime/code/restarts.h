#pragma once
// Finds restartable sequences (rseq). The kernel aborts such a sequence if its thread is interrupted, and continues where the
// descriptor of the sequence says, behind a signature:
//
//   descriptor (struct rseq_cs):  version, flags | first address | size | abort address
//   code:                         0x53053053 | abort address: ...
//
// Sequences are known by their descriptors in the file; those that code builds, such as on the stack, are missed. Most files have
// the signature nowhere or only as an operand, so this asks for the words that lead behind one, instead of all names of a file.
// Files are untrusted: all reads and all memory are bounded. Consumer context.

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/code/naming_file.h"

namespace dvm::runtime {

// Stands before each address where a restartable sequence is aborted.
constexpr uint32_t kRestartSignature = 0x53053053;

struct RestartableSequences {
  // First and last address of each sequence, and of the signature before the address where it is aborted.
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  bool is_complete = true;  // false: there are too many, and any instruction may lie in one

  // True if one of them has an address from `begin` to `last`.
  bool overlap(uint64_t begin, uint64_t last) const;
};

RestartableSequences find_restartable_sequences(const NamingFile& file);

}  // namespace dvm::runtime
