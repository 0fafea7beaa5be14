// Covered by the conformance tests of engine llvm.

#include "vm/engine/llvm/rare_call.h"

#include <llvm/IR/Module.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace dvm::vm::translate {

namespace {

// Integers that are constant are those of the function that makes the call, so that they take no registers on the way to it.
bool is_within(const llvm::Value* argument) { return llvm::isa<llvm::ConstantInt>(argument); }

// The name identifies the types of a function, and its constants.
std::string name_of(const llvm::FunctionType& type, llvm::ArrayRef<llvm::Value*> arguments) {
  std::string name = type.getReturnType()->isVoidTy() ? "rare" : "rare_result";
  for (llvm::Value* each : arguments) {
    name += each->getType()->isPointerTy() ? "_p" : "_" + std::to_string(each->getType()->getIntegerBitWidth());
    if (is_within(each)) name += "=" + std::to_string(llvm::cast<llvm::ConstantInt>(each)->getZExtValue());
  }
  return name;
}

// It has the function that it calls as its first argument.
llvm::Function* make_rare_call(llvm::Module& module, llvm::FunctionType* type, llvm::ArrayRef<llvm::Value*> given,
                               const std::string& name) {
  std::vector<llvm::Type*> parameters = {llvm::PointerType::getUnqual(module.getContext())};
  for (llvm::Value* each : given)
    if (!is_within(each)) parameters.push_back(each->getType());
  IrBuilder b(module.getContext());
  auto* made = llvm::FunctionType::get(type->getReturnType(), parameters, false);
  auto* function = llvm::Function::Create(made, llvm::GlobalValue::InternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::PreserveMost);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  std::vector<llvm::Value*> arguments;
  unsigned number = 1;
  for (llvm::Value* each : given) arguments.push_back(is_within(each) ? each : function->getArg(number++));
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
  const std::string name = name_of(*type, arguments);
  llvm::Function* by = module.getFunction(name);
  if (!by) by = make_rare_call(module, type, arguments, name);
  std::vector<llvm::Value*> all = {function};
  std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(all), [](auto* each) { return !is_within(each); });
  llvm::CallInst* made = b.CreateCall(by, all);
  made->setCallingConv(llvm::CallingConv::PreserveMost);
  return made;
}

}  // namespace dvm::vm::translate
