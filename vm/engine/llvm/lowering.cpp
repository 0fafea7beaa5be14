// Covered by the conformance tests of engine llvm.

#include "vm/engine/llvm/lowering.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "dvm/dif/arithmetic.h"
#include "vm/cost/tally.h"
#include "vm/dif/format.h"
#include "vm/engine/llvm/check_access.h"
#include "vm/engine/llvm/rare_call.h"

namespace dvm::vm::translate {

namespace {

bool uses_tuple(dif::Instruction in) { return info(in.opcode()).tuple != dif::TupleUse::none; }

}  // namespace

llvm::Value* load_constant(Builder& b, llvm::Value* base, uint64_t offset, llvm::Type* type) {
  llvm::LoadInst* load = b.CreateLoad(type, address_at(b, base, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return load;
}

void branch_rarely(Builder& b, llvm::Value* condition, llvm::BasicBlock* rare, llvm::BasicBlock* usual) {
  b.CreateCondBr(condition, rare, usual, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
}

Lowering::Lowering(const dif::Difo& d, const Surroundings& in) : difo(d), layout(in.layout), b(in.builder), surroundings_(in) {}

llvm::Value* Lowering::run(llvm::BasicBlock* faulted) {
  const auto& text = difo.text;
  enter();
  for (size_t pc = 0; pc < text.size(); pc++) blocks_.push_back(block("pc"));
  done_ = block("done");
  b.CreateBr(blocks_[0]);
  make_fault_exit(faulted);
  for (pc_ = 0; pc_ < text.size(); pc_++) {
    in_ = text[pc_];
    b.SetInsertPoint(blocks_[pc_]);
    lower_instruction(*this);
    if (!b.GetInsertBlock()->getTerminator()) b.CreateBr(next());
  }
  b.SetInsertPoint(done_);
  return b.CreateLoad(b.getInt64Ty(), result_);
}

// LLVM makes values of those variables only that it finds in the entry block.
llvm::AllocaInst* Lowering::variable(uint64_t value) {
  llvm::BasicBlock& entry = surroundings_.function->getEntryBlock();
  llvm::AllocaInst* made = Builder(&entry, entry.begin()).CreateAlloca(b.getInt64Ty());
  b.CreateStore(b.getInt64(value), made);
  return made;
}

void Lowering::enter() {
  for (unsigned i = 0; i < dif::kRegisters; i++) registers_.push_back(variable(0));
  flags_ = {variable(dif::kNoComparison.left), variable(dif::kNoComparison.right)};
  result_ = variable(0);
  if (!state()) return;
  b.CreateStore(constant_member(offsetof(native::CodeContext, difo), b.getPtrTy()), at(state(), layout.difo));
  if (std::any_of(difo.text.begin(), difo.text.end(), uses_tuple)) b.CreateStore(b.getInt32(0), at(state(), layout.depth));
  if (!counts()) return;
  count(at(surroundings_.costs, layout.cost_executed), b.getInt64(1));
  b.CreateStore(b.getInt64(0), at(state(), layout.units));
}


}  // namespace dvm::vm::translate
