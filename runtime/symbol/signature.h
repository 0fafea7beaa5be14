#pragma once
// Maps the parameters of a function to argN, by the calling convention of x86-64 (System V ABI, 3.2.3).
//
//   void f(int a, double b, struct large c, char *d)      large: more than 16 bytes, on the stack
//   args[0] is arg0 (%rdi), args[1] is in a vector register, args[2] at the stack pointer, args[3] is arg1 (%rsi)
//
// A function whose result is in memory takes the address of the result as a hidden first argument, and returns it.

#include <elfutils/libdw.h>

#include <vector>

#include "dvm/dif/type_desc.h"
#include "runtime/symbol/dwarf_describe.h"

namespace dvm::runtime {

// args[] of the entry probe of a function (its parameters) or of the return probe (the offset of the return, and the value).
std::vector<dif::ArgumentDesc> arguments_of(const Dwarf_Die& function, bool is_return, DieTable& table);

}  // namespace dvm::runtime
