// Covered by the conformance tests of engine llvm.

#include "vm/engine/llvm/function.h"

#include "vm/engine/llvm/lowering.h"

namespace dvm::vm::translate {

llvm::Function* begin_function(llvm::Module& module, IrBuilder& b, llvm::FunctionType* type, const char* name) {
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("no-jump-tables", "true");
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  return function;
}

void lower_difo(const native::Request& request, llvm::Module& module) {
  const native::MachineLayout& layout = request.layout;
  IrBuilder b(module.getContext());
  llvm::Type* pointer = b.getPtrTy();
  llvm::Function* function =
      begin_function(module, b, llvm::FunctionType::get(b.getInt64Ty(), {pointer, pointer, pointer}, false));
  for (unsigned i = 0; i < function->arg_size(); i++) function->addParamAttr(i, llvm::Attribute::NoAlias);
  llvm::Value* state = load_pointer(b, function->getArg(1), layout.impl);
  llvm::Value* costs = request.counts ? function->getArg(2) : nullptr;
  llvm::BasicBlock* faulted = llvm::BasicBlock::Create(b.getContext(), "faulted", function);
  llvm::Value* firing = load_pointer(b, state, layout.firing);
  Lowering lowering(request.difo,
                    {layout, b, function, address_at(b, function->getArg(0), layout.context), state, firing, costs});
  b.CreateRet(lowering.run(faulted));
  b.SetInsertPoint(faulted);
  b.CreateRet(b.getInt64(0));
}

}  // namespace dvm::vm::translate
