#pragma once
// Finds indirect jumps and calls to addresses that code computes, other than by the tables of distances that compilers make, and
// says where they may lead.
//
//   lea table(%rip), %rdx                    lea case_3(%rip), %rdx
//   movswq (%rdx,%rdi,2), %rcx               imul $8, %rdi, %rdi
//   add %rdx, %rcx                           add %rdi, %rdx
//   jmp *%rcx                                jmp *%rdx
//
// Only hand-written code has them. Where they lead is not computed: all within reach of an address in code counts that is taken
// shortly before, and all entries that such a table in data may have. Jumps may have prefixes, such as notrack, or lead by the
// stack: by `push` and `ret`, or by a place that %rsp points to. An address may also be the one behind a call, taken by `pop`, or
// that of a symbol of this file in its global offset table. It may pass through memory that has the same name all along, such
// as -16(%rbp), but not through a call, a branch, or a function of another file. Files are untrusted: the work is bounded.
// Consumer context.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

struct ComputedSource {
  CodeBytes code;        // of a segment
  uint64_t address = 0;  // of its first byte
  bool is_fixed = false;
  std::function<bool(uint64_t address)> is_code;
  std::function<CodeBytes(uint64_t address)> data;  // from there on, in one segment
  // A function that jumps to computed addresses of its own has no windows (FunctionCode::may_jump_anywhere).
  std::function<bool(uint64_t, uint64_t)> lie_in_one_function;
  // The address that the dynamic linker stores there, if it is one of this file.
  std::function<std::optional<uint64_t>(uint64_t)> pointer;
  // Neither code nor data lies before or behind these.
  uint64_t first = 0, last = UINT64_MAX;
};

// Addresses, first to last.
struct JumpReach {
  uint64_t first = 0, last = 0;
};

// Instructions to decode, addresses to follow and entries to read, in all segments of a file. libLLVM and node need less than
// a fifth.
constexpr size_t kMostComputedWork = size_t{1} << 23;

// Ascending, and none overlaps another. Takes its work off `work`. If that is not enough, or if one jump may start from too many
// addresses (AddressValue::kMost), the jumps may lead anywhere.
std::vector<JumpReach> find_computed_jumps(const ComputedSource& source, size_t& work);

// True if one of them has an address that is greater than `begin` and at most `last`.
bool is_reached(std::span<const JumpReach> reaches, uint64_t begin, uint64_t last);

}  // namespace dvm::runtime
