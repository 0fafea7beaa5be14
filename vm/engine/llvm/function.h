#pragma once
// Makes the functions that become machine code.

#include <llvm/IR/Module.h>

#include "vm/engine/llvm/number.h"
#include "vm/engine/native/translator.h"

namespace dvm::vm::translate {

// Their names.
inline constexpr const char* kCode = "code";
inline constexpr const char* kGate = "gate";

// An empty function of that type, with the builder at its entry.
llvm::Function* begin_function(llvm::Module& module, IrBuilder& b, llvm::FunctionType* type, const char* name = kCode);

// Makes the function of one DIFO: uint64_t run(const PreparedDifo&, MachineState&, OpCost*).
void lower_difo(const native::Request& request, llvm::Module& module);
// Makes the function of a body: uint32_t run(const PreparedBody&, BodyFrame&). If the body has a gate, makes that too, a
// PreparedBody::Gate.
void lower_body(const native::BodyCode& request, llvm::Module& module);

}  // namespace dvm::vm::translate
