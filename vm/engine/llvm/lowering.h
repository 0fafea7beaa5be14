#pragma once
// Lowers a DIFO to LLVM IR, inside a function that the caller has begun (function.h, body.h):
//
//   builder's position ─> one block for each instruction ──ret──> the builder continues here, with the value
//                             └──fault──> stores the pc ─> the block `faulted`
//
// Registers and condition codes are variables on the stack, which LLVM turns into values. The code accesses only the members of
// the machine state that the layout names. Loads and stores of DIF call helpers, which check the address. lower_ops.cpp has the
// lowering of each opcode.

#include <string_view>
#include <vector>

#include "dvm/dif/variable.h"
#include "vm/engine/llvm/check_access.h"
#include "vm/engine/llvm/number.h"
#include "vm/engine/native/translator.h"

namespace dvm::vm::translate {

// The position of a built-in variable in kBuiltIns.
inline unsigned position_of(unsigned id) {
  unsigned at = 0;
  while (static_cast<unsigned>(dif::kBuiltIns[at].id) != id) at++;
  return at;
}

// The function into which the code of a DIFO is inserted, and the values that the code uses.
struct Surroundings {
  const native::MachineLayout& layout;
  IrBuilder& builder;
  llvm::Function* function;
  llvm::Value* context;  // the CodeContext; null: the DIFO is plain (dvm/vm/body.h)
  llvm::Value* state;    // null: the DIFO is plain
  llvm::Value* firing;
  llvm::Value* costs;  // its first OpCost; null: nothing is counted
  // For a light body (dvm/vm/body.h): the function that prepares the machine state before a call of C++, and its argument.
  llvm::Value* prepare = nullptr;
  llvm::Value* frame = nullptr;
};

inline llvm::Value* address_at(IrBuilder& b, llvm::Value* base, uint64_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
}
// Loads a pointer that never changes.
llvm::Value* load_constant_pointer(IrBuilder& b, llvm::Value* base, uint64_t offset);

void branch_rarely(IrBuilder& b, llvm::Value* condition, llvm::BasicBlock* rare, llvm::BasicBlock* usual);

class Lowering {
 public:
  Lowering(const dif::Difo& difo, const Surroundings& in);
  // Appends the code; returns the value. Every opcode of a verified DIFO has a lowering.
  llvm::Value* run(llvm::BasicBlock* faulted);

  // The instruction that is being lowered.
  dif::Instruction in() const { return in_; }
  llvm::Value* reg(unsigned number);
  void set_reg(unsigned number, llvm::Value* value);
  void set_flags(llvm::Value* left, llvm::Value* right);
  llvm::Value* left() { return b.CreateLoad(b.getInt64Ty(), flags_[0]); }
  llvm::Value* right() { return b.CreateLoad(b.getInt64Ty(), flags_[1]); }
  void jump_if(llvm::Value* taken);
  void jump();
  void finish(llvm::Value* value);
  // Ends the function here if the machine has a fault.
  void check_fault();

  // Calls the body of the instruction's opcode. Ends the function if it faults; returns its result otherwise.
  llvm::Value* call_body(uint32_t operand);
  llvm::Value* call_subroutine(unsigned number);
  llvm::Value* call_getter(unsigned position, llvm::Value* index);

  // The instruction counts one unit, as its body would.
  void count_unit();

  // Runs `rare` if the condition holds, else `usual`. The code continues behind both, except after fault().
  template <class Rare, class Usual>
  void either(llvm::Value* condition, Rare rare, Usual usual);
  template <class Rare>
  void unlikely(llvm::Value* condition, Rare rare) {
    either(condition, rare, [] {});
  }
  // The machine has a fault: ends the function.
  void fault();

  llvm::Value* member(llvm::Value* base, uint32_t offset, llvm::Type* type) { return b.CreateLoad(type, at(base, offset)); }
  llvm::Value* member(llvm::Value* base, native::PointerAt member) { return load_pointer(b, base, member); }
  // Of the CodeContext.
  llvm::Value* constant_member(native::PointerAt member) {
    return load_constant_pointer(b, surroundings_.context, member.offset);
  }
  llvm::Value* strings();
  llvm::Value* at(llvm::Value* base, uint32_t offset) { return address_at(b, base, offset); }
  llvm::Value* state() { return surroundings_.state; }
  llvm::Value* firing() { return surroundings_.firing; }

  const dif::Difo& difo;
  const native::MachineLayout& layout;
  IrBuilder& b;

 private:
  bool counts() const { return surroundings_.costs != nullptr; }
  void enter();
  void make_fault_exit(llvm::BasicBlock* faulted);
  llvm::AllocaInst* variable(uint64_t value);
  llvm::Value* call(unsigned helper, llvm::ArrayRef<llvm::Value*> arguments);
  void set_difo();
  void prepare();
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, surroundings_.function); }
  void count(llvm::Value* counter, llvm::Value* by);
  llvm::Value* cost_of(size_t pc, uint32_t member);
  void count_units();
  llvm::BasicBlock* next() { return blocks_[pc_ + 1]; }

  const Surroundings surroundings_;
  std::vector<llvm::BasicBlock*> blocks_;
  llvm::BasicBlock* fault_ = nullptr;
  llvm::PHINode* fault_pc_ = nullptr;
  llvm::BasicBlock* done_ = nullptr;
  llvm::AllocaInst* result_ = nullptr;
  std::vector<llvm::AllocaInst*> registers_, flags_;
  bool is_rare_ = false;  // the code that is made now
  dif::Instruction in_;
  size_t pc_ = 0;
};

// Appends the code of the instruction that `f` is at (lower_ops.cpp).
void lower_instruction(Lowering& f);

template <class Rare, class Usual>
void Lowering::either(llvm::Value* condition, Rare rare, Usual usual) {
  llvm::BasicBlock *const rare_block = block("rare"), *const usual_block = block("usual"), *const after = block("after");
  branch_rarely(b, condition, rare_block, usual_block);
  const auto fill = [&](llvm::BasicBlock* into, auto body) {
    b.SetInsertPoint(into);
    body();
    if (!b.GetInsertBlock()->getTerminator()) b.CreateBr(after);
  };
  is_rare_ = true;
  fill(rare_block, rare);
  is_rare_ = false;
  fill(usual_block, usual);
  b.SetInsertPoint(after);
}

}  // namespace dvm::vm::translate
