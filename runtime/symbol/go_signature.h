#pragma once
// The arguments and results of Go's functions as Go passes them (its ABIInternal, or on the stack): the words that each is made
// of.
//
//   func greet(name string, f float64, list []int64)      name: arg0, arg1; f: a vector register; list: arg2, arg3, arg4
//
// A value whose words do not all fit into the registers that are left goes to the stack as a whole.

#include <elfutils/libdw.h>

#include <vector>

#include "dvm/dif/type_desc.h"
#include "runtime/symbol/dwarf_describe.h"
#include "runtime/symbol/go_program.h"

namespace dvm::runtime {

// abi: not none.
std::vector<dif::ArgumentDesc> go_arguments_of(const Dwarf_Die& function, bool is_return, GoAbi abi, DieTable& table);

}  // namespace dvm::runtime
