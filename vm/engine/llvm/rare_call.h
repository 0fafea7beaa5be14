#pragma once
// Rare calls. They go through a function that preserves all registers, so the common path saves none.

#include "vm/engine/llvm/number.h"

namespace dvm::vm::translate {

llvm::CallInst* call_rarely(IrBuilder& b, llvm::FunctionType* type, llvm::Value* function,
                            llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace dvm::vm::translate
