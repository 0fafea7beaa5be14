// Covered by the conformance tests of engine llvm.

#include "vm/engine/llvm/lowering.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "dvm/dif/arithmetic.h"
#include "vm/cost/tally.h"
#include "vm/dif/format.h"
#include "vm/engine/llvm/rare_call.h"

namespace dvm::vm::translate {

namespace {

llvm::LoadInst* never_changes(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
  return load;
}

bool uses_tuple(dif::Instruction in) { return info(in.opcode()).tuple != dif::TupleUse::none; }

}  // namespace

llvm::Value* load_constant_pointer(IrBuilder& b, llvm::Value* base, uint64_t offset) {
  return never_changes(load_pointer(b, base, {static_cast<uint32_t>(offset)}));
}

void branch_rarely(IrBuilder& b, llvm::Value* condition, llvm::BasicBlock* rare, llvm::BasicBlock* usual) {
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
  llvm::AllocaInst* made = IrBuilder(&entry, entry.begin()).CreateAlloca(b.getInt64Ty());
  b.CreateStore(b.getInt64(value), made);
  return made;
}

void Lowering::enter() {
  for (unsigned i = 0; i < dif::kRegisters; i++) registers_.push_back(variable(0));
  flags_ = {variable(dif::kNoComparison.left), variable(dif::kNoComparison.right)};
  result_ = variable(0);
  if (!state()) return;
  if (surroundings_.prepare == nullptr) set_difo();
  if (std::any_of(difo.text.begin(), difo.text.end(), uses_tuple)) b.CreateStore(b.getInt32(0), at(state(), layout.depth));
  if (!counts()) return;
  count(at(surroundings_.costs, layout.cost_executed), b.getInt64(1));
  b.CreateStore(b.getInt64(0), at(state(), layout.units));
}

void Lowering::make_fault_exit(llvm::BasicBlock* faulted) {
  if (!state()) return;
  fault_ = block("fault");
  b.SetInsertPoint(fault_);
  fault_pc_ = b.CreatePHI(b.getInt32Ty(), 4);
  b.CreateStore(fault_pc_, at(state(), layout.fault_pc));
  if (counts()) {
    llvm::Value* number = b.CreateAdd(b.CreateZExt(fault_pc_, b.getInt64Ty()), b.getInt64(1));
    llvm::Value* cost = address_by(b, b.getInt8Ty(), surroundings_.costs, b.CreateMul(number, b.getInt64(layout.cost_size)));
    count(at(cost, layout.cost_faults), b.getInt64(1));
  }
  b.CreateBr(faulted);
}

llvm::Value* Lowering::strings() {
  llvm::Value* member = at(surroundings_.context, offsetof(native::CodeContext, strings));
  return never_changes(b.CreateLoad(b.getInt64Ty(), member));
}

llvm::Value* Lowering::reg(unsigned number) {
  return number == 0 ? static_cast<llvm::Value*>(b.getInt64(0)) : b.CreateLoad(b.getInt64Ty(), registers_[number]);
}
void Lowering::set_reg(unsigned number, llvm::Value* value) { b.CreateStore(value, registers_[number]); }
void Lowering::set_flags(llvm::Value* left, llvm::Value* right) {
  b.CreateStore(left, flags_[0]);
  b.CreateStore(right, flags_[1]);
}

void Lowering::jump() { b.CreateBr(blocks_[in_.label()]); }

void Lowering::jump_if(llvm::Value* taken) {
  llvm::BasicBlock* to = counts() ? block("taken") : blocks_[in_.label()];
  b.CreateCondBr(taken, to, next());
  if (!counts()) return;
  b.SetInsertPoint(to);
  count(cost_of(pc_, layout.cost_executed), b.getInt64(1));
  jump();
}

void Lowering::finish(llvm::Value* value) {
  b.CreateStore(value, result_);
  b.CreateBr(done_);
}

void Lowering::fault() {
  fault_pc_->addIncoming(b.getInt32(static_cast<uint32_t>(pc_)), b.GetInsertBlock());
  b.CreateBr(fault_);
}

void Lowering::check_fault() {
  unlikely(b.CreateICmpNE(member(state(), layout.fault, b.getInt8Ty()), b.getInt8(0)), [this] { fault(); });
}

void Lowering::count(llvm::Value* counter, llvm::Value* by) {
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), counter), by), counter);
}

llvm::Value* Lowering::cost_of(size_t pc, uint32_t of) {
  return at(surroundings_.costs, static_cast<uint32_t>(layout.cost_size * (1 + pc)) + of);
}

void Lowering::count_units() {
  if (!counts() || !has_units(info(in_.opcode()))) return;
  llvm::Value* units = at(state(), layout.units);
  count(cost_of(pc_, layout.cost_units), b.CreateLoad(b.getInt64Ty(), units));
  b.CreateStore(b.getInt64(0), units);
}

void Lowering::count_unit() {
  if (counts() && has_units(info(in_.opcode()))) count(cost_of(pc_, layout.cost_units), b.getInt64(1));
}

void Lowering::set_difo() {
  b.CreateStore(constant_member({offsetof(native::CodeContext, difo)}), at(state(), layout.difo.offset));
}

void Lowering::prepare() {
  if (surroundings_.prepare == nullptr) return;
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  call_rarely(b, type, surroundings_.prepare, {surroundings_.frame})->addFnAttr(llvm::Attribute::NoUnwind);
  set_difo();
}

llvm::Value* Lowering::call(unsigned helper, llvm::ArrayRef<llvm::Value*> arguments) {
  prepare();
  std::vector<llvm::Type*> types;
  for (llvm::Value* each : arguments) types.push_back(each->getType());
  llvm::Value* table = constant_member({offsetof(native::CodeContext, helpers)});
  llvm::Value* function = load_constant_pointer(b, table, helper * sizeof(void*));
  auto* type = llvm::FunctionType::get(b.getInt64Ty(), types, false);
  llvm::CallInst* made = is_rare_ ? call_rarely(b, type, function, arguments) : b.CreateCall(type, function, arguments);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  return made;
}

llvm::Value* Lowering::call_body(uint32_t operand) {
  llvm::Value* registers[3] = {b.getInt64(0), b.getInt64(0), b.getInt64(0)};  // r1, r2, rd
  for (const dif::OperandFormat& each : dif::operands_of(in_.opcode()))
    if (each.kind == dif::OperandKind::reg || each.kind == dif::OperandKind::address)
      registers[static_cast<size_t>(each.field)] = reg(dif::field_of(in_, each.field));
  llvm::Value* result = call(in_.number(), {state(), registers[0], registers[1], registers[2], b.getInt32(operand)});
  count_units();
  check_fault();
  return result;
}

llvm::Value* Lowering::call_subroutine(unsigned number) {
  llvm::Value* result = call(native::kFirstSubroutine + number, {state()});
  b.CreateStore(b.getInt32(0), at(state(), layout.depth));
  count_units();
  check_fault();
  return result;
}

llvm::Value* Lowering::call_getter(unsigned position, llvm::Value* index) {
  llvm::Value* result = call(native::kFirstGetter + position, {state(), index});
  check_fault();
  return result;
}

}  // namespace dvm::vm::translate
