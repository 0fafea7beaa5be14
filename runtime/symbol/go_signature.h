#pragma once
// The words that make up each argument and result of a Go function, as Go passes them (by its ABIInternal, or on the stack).
//
//   func greet(name string, f float64, list []int64)      name: arg0, arg1; f: a vector register; list: arg2, arg3, arg4
//
// A value goes to the stack as a whole if its words do not all fit into the remaining registers.

#include <elfutils/libdw.h>

#include <vector>

#include "dvm/dif/type_desc.h"
#include "runtime/symbol/dwarf_describe.h"
#include "runtime/symbol/go_program.h"

namespace dvm::runtime {

// abi: not none.
std::vector<dif::ArgumentDesc> go_arguments_of(const Dwarf_Die& function, bool is_return, GoAbi abi, DieTable& table);

}  // namespace dvm::runtime
