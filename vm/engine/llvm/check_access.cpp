// Covered by tests/unit/vm/llvm_test.cpp.

#include "vm/engine/llvm/check_access.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/raw_ostream.h>

namespace dvm::vm::translate {

namespace {

constexpr const char* kInBounds = "dvm.in_bounds";

bool is_proven_step(const llvm::GetElementPtrInst& step) {
  return step.hasAllConstantIndices() || step.getMetadata(kInBounds) != nullptr;
}

// Pointers that are no arithmetic: each of them was checked where it was made.
bool is_origin(const llvm::Value* pointer) {
  return llvm::isa<llvm::Argument, llvm::AllocaInst, llvm::LoadInst, llvm::CallInst, llvm::PHINode>(pointer);
}

bool is_proven(const llvm::Value* pointer) {
  while (const auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer)) {
    if (!is_proven_step(*step)) return false;
    pointer = step->getPointerOperand();
  }
  return is_origin(pointer);
}

bool is_sound(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::IntToPtrInst>(instruction)) return false;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return is_proven(load->getPointerOperand());
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return is_proven(store->getPointerOperand());
  return true;
}

}  // namespace

llvm::Value* address_by(Builder& b, llvm::Type* element, llvm::Value* base, llvm::Value* number) {
  llvm::Value* address = b.CreateInBoundsGEP(element, base, number);
  if (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(address))
    step->setMetadata(kInBounds, llvm::MDNode::get(b.getContext(), {}));
  return address;
}

llvm::LoadInst* load_pointer(Builder& b, llvm::Value* base, native::PointerAt member) {
  return b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, member.offset));
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
