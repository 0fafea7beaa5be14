#pragma once
// Checks each function before LLVM optimizes it: no value of DIF may become an address, whatever the lowering of an opcode does.
//
// An address must start from an argument, from a pointer that load_pointer() loaded, or from one that a helper returned. Constant
// offsets may be added to it, and indices by address_by(), for which the lowering guarantees the bounds. Only plain loads and
// stores, and helpers called through such pointers, may access memory. Variables on the stack hold integers, and their addresses
// are not used otherwise.

#include <llvm/IR/Function.h>

#include <string>

#include "vm/engine/llvm/number.h"
#include "vm/engine/native/translator.h"

namespace dvm::vm::translate {

// The address of an element. The caller guarantees that its number is in bounds: the verifier has proved it, or it follows from
// how the number is computed.
llvm::Value* address_by(IrBuilder& b, llvm::Type* element, llvm::Value* base, llvm::Value* number);

// Loads a pointer that dvm, not DIF, stored there.
llvm::LoadInst* load_pointer(IrBuilder& b, llvm::Value* base, native::PointerAt member);

// The first instruction that breaks the rule, or nothing.
std::string unproven_access(const llvm::Function& function);

}  // namespace dvm::vm::translate
