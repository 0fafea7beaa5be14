#pragma once
// A check of each function before LLVM optimizes it: whatever the lowering of an opcode does, no value of DIF becomes an address.
//
// Addresses lead from arguments, from pointers that load_pointer() loaded, and from those that helpers returned. On the way there
// are constant offsets, and such indices as address_by() was given: the lowering vouches that they are in bounds. Memory is read
// and written by plain loads and stores, and by helpers, which are called through such pointers. Variables on the stack hold
// integers, and nothing else has their addresses.

#include <llvm/IR/Function.h>

#include <string>

#include "vm/engine/llvm/number.h"
#include "vm/engine/native/translator.h"

namespace dvm::vm::translate {

// The address of an element whose number is in bounds, by the verifier's proof or by how it is made.
llvm::Value* address_by(IrBuilder& b, llvm::Type* element, llvm::Value* base, llvm::Value* number);

// A pointer that dvm has stored there.
llvm::LoadInst* load_pointer(IrBuilder& b, llvm::Value* base, native::PointerAt member);

// The first instruction that breaks the rule, or nothing.
std::string unproven_access(const llvm::Function& function);

}  // namespace dvm::vm::translate
