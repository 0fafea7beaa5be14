// Covered by the conformance tests of engine llvm.

#include "vm/engine/llvm/rare_call.h"

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace dvm::vm::translate {

namespace {

// It has the function that it calls as its first argument.
llvm::Function* make_rare_call(llvm::Module& module, llvm::FunctionType* type, const std::string& name) {
  std::vector<llvm::Type*> parameters(type->param_begin(), type->param_end());
  parameters.insert(parameters.begin(), llvm::PointerType::getUnqual(module.getContext()));
  IrBuilder b(module.getContext());
  auto* made = llvm::FunctionType::get(type->getReturnType(), parameters, false);
  auto* function = llvm::Function::Create(made, llvm::GlobalValue::InternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::PreserveMost);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  std::vector<llvm::Value*> arguments;
  for (unsigned i = 1; i < function->arg_size(); i++) arguments.push_back(function->getArg(i));
  llvm::CallInst* result = b.CreateCall(type, function->getArg(0), arguments);
  if (type->getReturnType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(result);
  return function;
}

}  // namespace

llvm::CallInst* call_rarely(IrBuilder& b, llvm::FunctionType* type, llvm::Value* function,
                            llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  std::string name = type->getReturnType()->isVoidTy() ? "rare" : "rare_result";
  for (const llvm::Type* each : type->params())
    name += each->isPointerTy() ? "_p" : "_" + std::to_string(each->getIntegerBitWidth());
  llvm::Function* by = module.getFunction(name);
  if (!by) by = make_rare_call(module, type, name);
  std::vector<llvm::Value*> all(arguments.begin(), arguments.end());
  all.insert(all.begin(), function);
  llvm::CallInst* made = b.CreateCall(by, all);
  made->setCallingConv(llvm::CallingConv::PreserveMost);
  return made;
}

}  // namespace dvm::vm::translate
