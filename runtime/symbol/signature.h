#pragma once
// The arguments of functions as the calling convention of x86-64 places them (System V ABI, 3.2.3): which argN a parameter is.
//
//   void f(int a, double b, struct large c, char *d)      large: more than 16 bytes, on the stack
//   args[0] is arg0 (%rdi), args[1] is in a vector register, args[2] at the stack pointer, args[3] is arg1 (%rsi)
//
// A function whose result lies in memory takes its address as a hidden first argument, and returns it.

#include <elfutils/libdw.h>

#include <vector>

#include "dvm/dif/type_desc.h"
#include "runtime/symbol/dwarf_describe.h"

namespace dvm::runtime {

// args[] of the entry or return probe of a function: its parameters; or where it returned and what.
std::vector<dif::ArgumentDesc> arguments_of(const Dwarf_Die& function, bool is_return, DieTable& table);

}  // namespace dvm::runtime
