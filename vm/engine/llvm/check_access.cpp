// Covered by tests/unit/vm/llvm_test.cpp.

#include "vm/engine/llvm/check_access.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace dvm::vm::translate {

namespace {

constexpr const char* kInBounds = "dvm.in_bounds";
constexpr const char* kPointer = "dvm.pointer";

void vouch_for(llvm::Instruction& instruction, const char* what) {
  instruction.setMetadata(what, llvm::MDNode::get(instruction.getContext(), {}));
}

// Where its elements are taken from.
const llvm::Value* origin(const llvm::Value* pointer) {
  while (const auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer)) pointer = element->getPointerOperand();
  return pointer;
}

// Not a constant. Each instruction on the way is checked by itself.
bool is_address(const llvm::Value* pointer) { return llvm::isa<llvm::Argument, llvm::LoadInst, llvm::CallInst>(origin(pointer)); }

// All of a variable on the stack, as an integer.
bool holds(const llvm::Value* pointer, const llvm::Type* type) {
  const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(pointer);
  return variable != nullptr && variable->isStaticAlloca() && variable->getAllocatedType() == type && type->isIntegerTy();
}

bool is_accessible(const llvm::Value* pointer, const llvm::Type* type) { return is_address(pointer) || holds(pointer, type); }

bool is_variable(const llvm::Value* operand) { return llvm::isa<llvm::AllocaInst>(operand); }

bool is_sound(const llvm::GetElementPtrInst& element) {
  return is_address(element.getPointerOperand()) &&
         (element.hasAllConstantIndices() || element.getMetadata(kInBounds) != nullptr);
}

bool is_sound(const llvm::LoadInst& load) {
  return is_accessible(load.getPointerOperand(), load.getType()) &&
         (!load.getType()->isPointerTy() || load.getMetadata(kPointer) != nullptr);
}

bool is_sound(const llvm::StoreInst& store) {
  return is_accessible(store.getPointerOperand(), store.getValueOperand()->getType()) && !is_variable(store.getValueOperand());
}

// A helper, a function of the module, or an intrinsic that computes.
bool is_sound(const llvm::CallInst& call) {
  if (std::any_of(call.arg_begin(), call.arg_end(), [](const llvm::Use& each) { return is_variable(each.get()); })) return false;
  if (const llvm::Function* called = call.getCalledFunction())
    return called->isIntrinsic() ? called->doesNotAccessMemory() : !called->isDeclaration();
  return llvm::isa<llvm::Argument, llvm::LoadInst>(call.getCalledOperand());
}

// Instructions on integers, and those that lead elsewhere in the function.
bool is_harmless(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::AllocaInst, llvm::ICmpInst, llvm::BranchInst, llvm::ReturnInst>(instruction)) return true;
  const bool computes = llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::SelectInst, llvm::PHINode>(instruction);
  return computes && instruction.getType()->isIntegerTy() && !llvm::isa<llvm::PtrToIntInst>(instruction);
}

bool is_sound(const llvm::Instruction& instruction) {
  if (const auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return is_sound(*element);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return is_sound(*load);
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return is_sound(*store);
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return is_sound(*call);
  return is_harmless(instruction);
}

}  // namespace

llvm::Value* address_by(IrBuilder& b, llvm::Type* element, llvm::Value* base, llvm::Value* number) {
  llvm::Value* address = b.CreateInBoundsGEP(element, base, number);
  if (auto* made = llvm::dyn_cast<llvm::GetElementPtrInst>(address)) vouch_for(*made, kInBounds);
  return address;
}

llvm::LoadInst* load_pointer(IrBuilder& b, llvm::Value* base, native::PointerAt member) {
  llvm::LoadInst* load = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, member.offset));
  vouch_for(*load, kPointer);
  return load;
}

std::string unproven_access(const llvm::Function& function) {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (is_sound(instruction)) continue;
    std::string text;
    llvm::raw_string_ostream(text) << instruction;
    return "a memory access that is not proven:" + text;
  }
  return {};
}

}  // namespace dvm::vm::translate
