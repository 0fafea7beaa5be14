#pragma once
// Finds the system calls that code makes: instructions `syscall`, `sysenter` and `int $0x80`, and the number of the call:
//
//   mov $0xb, %eax     the number; is_beside: no instruction in between, and no jump in between either
//   syscall
//
// Their bytes are sought at every offset. Most of what is found lies inside of other instructions, as the instructions of the
// function around it show. Where no function is known, or its instructions are not, the bytes count as a system call of any
// number, so none is missed. Code that jumps into the middle of an instruction is not foreseen.
//
// Files are untrusted: all reads are bounded, and so is the work. Consumer context.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/code/function_code.h"
#include "runtime/code/naming_file.h"

namespace dvm::runtime {

struct SystemCallSite {
  uint64_t offset = 0;               // in the file, of the instruction
  uint64_t behind = 0;               // that of the next
  std::optional<uint32_t> number{};  // what %eax holds there, if that is certain
  bool is_beside = false;            // `mov $number, %eax` of five bytes ends at the instruction, and no jump leads to it
  bool is_of_32_bits = false;        // it enters the kernel as programs of 32 bits do, whose numbers are others
};

// True if the first bytes are those of such an instruction.
bool begins_system_call(CodeBytes code);

// Decodes the function of that size at an offset of the file.
using DecodeFunction = std::function<FunctionCode(uint64_t offset, uint64_t size)>;

// Ascending.
std::vector<SystemCallSite> find_system_calls(const NamingFile& file, const DecodeFunction& decode);

}  // namespace dvm::runtime
