#pragma once
// Calls that are rare. Each goes through a function of the module that keeps all registers, so the usual way saves none.

#include "vm/engine/llvm/number.h"

namespace dvm::vm::translate {

llvm::CallInst* call_rarely(IrBuilder& b, llvm::FunctionType* type, llvm::Value* function,
                            llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace dvm::vm::translate
