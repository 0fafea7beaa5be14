#pragma once
// Recognises bytes that cannot be code that runs: each way from there soon leads to an instruction that ends a program.
// Constants that lie among code are such bytes, mostly. Consumer context.

#include <cstdint>
#include <functional>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// The bytes of code from an address on. Empty: there is no code.
using CodeAt = std::function<CodeBytes(uint64_t address)>;

// True if the instructions from `address` on lead, by each branch, to an invalid or a privileged instruction, or out of all
// code. A few dozen instructions are read.
bool is_dead_end(const CodeAt& code_at, uint64_t address);

}  // namespace dvm::runtime
