// The lowering of each opcode, named as its row in opcodes.def: a row without one does not compile. Arithmetic is in
// arithmetic.def. What is not simple calls the body that the interpreter has for it (vm/engine/interp/ops.h).

#include "dvm/dif/variable.h"
#include "vm/engine/llvm/lowering.h"

namespace dvm::vm::translate {

namespace {

#define DVM_LOWER(name) void lower_##name([[maybe_unused]] Lowering& f)

// The body sets the fault.
void fault_by_body(Lowering& f, uint32_t operand) {
  f.call_body(operand);
  f.fault();
}

// Arithmetic.
#define DVM_ARITHMETIC(name, expression)                                     \
  DVM_LOWER(name) {                                                          \
    const IrNumber a{&f.b, f.reg(f.in().r1())}, b{&f.b, f.reg(f.in().r2())}; \
    f.set_reg(f.in().rd(), IrNumber(expression).value);                      \
  }
#define DVM_DIVISION(name, expression)                                       \
  DVM_LOWER(name) {                                                          \
    const IrNumber a{&f.b, f.reg(f.in().r1())}, b{&f.b, f.reg(f.in().r2())}; \
    f.unlikely(f.b.CreateIsNull(b.value), [&f] { fault_by_body(f, 0); });    \
    f.set_reg(f.in().rd(), IrNumber(expression).value);                      \
  }
#include "vm/dif/arithmetic.def"

DVM_LOWER(not_) { f.set_reg(f.in().rd(), f.b.CreateNot(f.reg(f.in().r1()))); }
DVM_LOWER(mov) { f.set_reg(f.in().rd(), f.reg(f.in().r1())); }
DVM_LOWER(nop) {}

// Comparisons and branches.
DVM_LOWER(cmp) { f.set_flags(f.reg(f.in().r1()), f.reg(f.in().r2())); }
DVM_LOWER(tst) { f.set_flags(f.b.CreateZExt(f.b.CreateIsNotNull(f.reg(f.in().r1())), f.b.getInt64Ty()), f.b.getInt64(0)); }
DVM_LOWER(scmp) { f.set_flags(f.call_body(0), f.b.getInt64(0)); }
DVM_LOWER(ba) { f.jump(); }
#define DVM_BRANCH(name, condition) \
  DVM_LOWER(name) { f.jump_if(f.b.CreateICmp##condition(f.left(), f.right())); }
DVM_BRANCH(be, EQ)
DVM_BRANCH(bne, NE)
DVM_BRANCH(bg, SGT)
DVM_BRANCH(bgu, UGT)
DVM_BRANCH(bge, SGE)
DVM_BRANCH(bgeu, UGE)
DVM_BRANCH(bl, SLT)
DVM_BRANCH(blu, ULT)
DVM_BRANCH(ble, SLE)
DVM_BRANCH(bleu, ULE)
#undef DVM_BRANCH
DVM_LOWER(ret) { f.finish(f.reg(f.in().rd())); }

// Opcodes whose body is called: those with a value, and those without.
#define DVM_VALUE_BY_BODY(name) \
  DVM_LOWER(name) { f.set_reg(f.in().rd(), f.call_body(f.in().index())); }
#define DVM_EFFECT_BY_BODY(name, operand) \
  DVM_LOWER(name) { f.call_body(operand); }

// Memory.
DVM_VALUE_BY_BODY(ldsb)
DVM_VALUE_BY_BODY(ldsh)
DVM_VALUE_BY_BODY(ldsw)
DVM_VALUE_BY_BODY(ldub)
DVM_VALUE_BY_BODY(lduh)
DVM_VALUE_BY_BODY(lduw)
DVM_VALUE_BY_BODY(ldx)
DVM_VALUE_BY_BODY(rldsb)
DVM_VALUE_BY_BODY(rldsh)
DVM_VALUE_BY_BODY(rldsw)
DVM_VALUE_BY_BODY(rldub)
DVM_VALUE_BY_BODY(rlduh)
DVM_VALUE_BY_BODY(rlduw)
DVM_VALUE_BY_BODY(rldx)
DVM_VALUE_BY_BODY(uldsb)
DVM_VALUE_BY_BODY(uldsh)
DVM_VALUE_BY_BODY(uldsw)
DVM_VALUE_BY_BODY(uldub)
DVM_VALUE_BY_BODY(ulduh)
DVM_VALUE_BY_BODY(ulduw)
DVM_VALUE_BY_BODY(uldx)
DVM_EFFECT_BY_BODY(stb, 0)
DVM_EFFECT_BY_BODY(sth, 0)
DVM_EFFECT_BY_BODY(stw, 0)
DVM_EFFECT_BY_BODY(stx, 0)
DVM_VALUE_BY_BODY(allocs)
DVM_EFFECT_BY_BODY(copys, 0)

// Tables.
DVM_LOWER(setx) { f.set_reg(f.in().rd(), f.b.getInt64(f.difo.integers[f.in().index()])); }
DVM_LOWER(sets) { f.set_reg(f.in().rd(), f.b.CreateAdd(f.strings(), f.b.getInt64(f.in().index()))); }

// Built-in variables.
llvm::Value* field_of_firing(Lowering& f, const native::IntegerAt& field) {
  llvm::Value* value = f.member(f.firing(), field.offset, f.b.getIntNTy(field.size * 8));
  return f.b.CreateIntCast(value, f.b.getInt64Ty(), field.is_signed);
}
void lower_built_in(Lowering& f, unsigned id, llvm::Value* index) {
  const unsigned position = position_of(id);
  const native::IntegerAt& field = f.layout.fields[position];
  f.set_reg(f.in().rd(), field.size != 0 ? field_of_firing(f, field) : f.call_getter(position, index));
}

// Scalar variables: a slot of a table. The body knows what to do with a variable that the session does not have, and with strings
// and structures.
llvm::Value* slot_of(Lowering& f, llvm::Value* base, uint32_t table) {
  const uint32_t at = f.in().index() - dif::kFirstUserVariable;
  llvm::Value* count = f.member(base, table + f.layout.slots_count, f.b.getInt64Ty());
  f.unlikely(f.b.CreateICmpUGE(f.b.getInt64(at), count), [&f] { fault_by_body(f, f.in().index()); });
  return f.at(f.member(base, table + f.layout.slots_first), at * f.layout.slot_size);
}
llvm::Value* is_unknown(Lowering& f, llvm::Value* slot) {
  return f.b.CreateICmpEQ(f.member(slot, f.layout.slot_known, f.b.getInt8Ty()), f.b.getInt8(0));
}
void load_slot(Lowering& f, llvm::Value* base, uint32_t table) {
  llvm::Value* slot = slot_of(f, base, table);
  f.unlikely(is_unknown(f, slot), [&f] { fault_by_body(f, f.in().index()); });
  f.set_reg(f.in().rd(), f.member(slot, f.layout.slot_value, f.b.getInt64Ty()));
}
void store_slot(Lowering& f, llvm::Value* base, uint32_t table) {
  IrBuilder& b = f.b;
  llvm::Value* slot = slot_of(f, base, table);
  llvm::Value* is_reference = b.CreateIsNotNull(f.member(slot, f.layout.slot_storage));
  f.either(
      b.CreateOr(is_unknown(f, slot), is_reference), [&f] { f.call_body(f.in().index()); },
      [&] {
        llvm::Value* sign = f.member(slot, f.layout.slot_sign, b.getInt64Ty());
        llvm::Value* bits = b.CreateAnd(f.reg(f.in().rd()), f.member(slot, f.layout.slot_mask, b.getInt64Ty()));
        b.CreateStore(b.CreateSub(b.CreateXor(bits, sign), sign), f.at(slot, f.layout.slot_value));
      });
}
llvm::Value* globals(Lowering& f) { return f.member(f.state(), f.layout.variables); }

DVM_LOWER(ldgs) {
  if (const auto id = dif::built_in_of(f.in()))
    lower_built_in(f, *id, f.b.getInt64(0));
  else
    load_slot(f, globals(f), f.layout.globals);
}
DVM_LOWER(ldga) { lower_built_in(f, *dif::built_in_of(f.in()), f.reg(f.in().r2())); }
DVM_EFFECT_BY_BODY(ldta, 0)
DVM_LOWER(ldls) { load_slot(f, f.state(), f.layout.locals); }
DVM_LOWER(stgs) { store_slot(f, globals(f), f.layout.globals); }
DVM_LOWER(stls) { store_slot(f, f.state(), f.layout.locals); }
// The node that was found last, if it is still that of this thread's variable.
DVM_LOWER(ldts) {
  IrBuilder& b = f.b;
  llvm::Value* slot = slot_of(f, globals(f), f.layout.threads);
  llvm::Value* node = f.member(slot, f.layout.slot_recent);
  const native::IntegerAt& tid = f.layout.fields[position_of(static_cast<unsigned>(dif::BuiltIn::tid))];
  llvm::Value* thread = b.CreateZExt(f.member(f.firing(), tid.offset, b.getInt32Ty()), b.getInt64Ty());
  llvm::Value* key = b.CreateOr(thread, b.getInt64(uint64_t{f.in().index()} << 32 | uint64_t{1} << 48));
  f.either(
      b.CreateICmpNE(f.member(node, f.layout.node_key, b.getInt64Ty()), key),
      [&f] { f.set_reg(f.in().rd(), f.call_body(f.in().index())); },
      [&] {
        f.set_reg(f.in().rd(), f.member(node, f.layout.node_value, b.getInt64Ty()));
        f.count_unit();
      });
}
DVM_VALUE_BY_BODY(ldgaa)
DVM_VALUE_BY_BODY(ldtaa)
DVM_EFFECT_BY_BODY(stts, f.in().index())
DVM_EFFECT_BY_BODY(stgaa, f.in().index())
DVM_EFFECT_BY_BODY(sttaa, f.in().index())

// The tuple stack and calls.
void change_depth(Lowering& f, int by) {
  llvm::Value* depth = f.at(f.state(), f.layout.depth);
  f.b.CreateStore(f.b.CreateAdd(f.b.CreateLoad(f.b.getInt32Ty(), depth), f.b.getInt32(static_cast<uint32_t>(by))), depth);
}
DVM_LOWER(pushtv) {
  IrBuilder& b = f.b;
  llvm::Value* depth = b.CreateZExt(f.member(f.state(), f.layout.depth, b.getInt32Ty()), b.getInt64Ty());
  llvm::Value* distance = b.CreateMul(depth, b.getInt64(f.layout.entry_size));
  llvm::Value* entry = address_by(b, b.getInt8Ty(), f.at(f.state(), f.layout.entries), distance);
  b.CreateStore(f.reg(f.in().rd()), f.at(entry, f.layout.entry_value));
  b.CreateStore(b.getInt64(0), f.at(entry, f.layout.entry_of_size));
  b.CreateStore(b.getInt8(static_cast<uint8_t>(dif::PushType::value)), f.at(entry, f.layout.entry_type));
  b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), f.at(entry, f.layout.entry_bytes.offset));
  change_depth(f, 1);
}
DVM_EFFECT_BY_BODY(pushtr, f.in().r1())
DVM_LOWER(popts) { change_depth(f, -1); }
DVM_LOWER(flushts) { f.b.CreateStore(f.b.getInt32(0), f.at(f.state(), f.layout.depth)); }
DVM_LOWER(call) { f.set_reg(f.in().rd(), f.call_subroutine(f.in().index())); }

// The verifier rejects these two.
DVM_EFFECT_BY_BODY(xlate, 0)
DVM_EFFECT_BY_BODY(xlarg, 0)

#undef DVM_VALUE_BY_BODY
#undef DVM_EFFECT_BY_BODY
#undef DVM_LOWER

using Lower = void (*)(Lowering&);
constexpr Lower kLowerings[] = {
    nullptr,
#define DVM_OPCODE(number, name, ...) lower_##name,
#include "vm/dif/opcodes.def"
};

}  // namespace

void lower_instruction(Lowering& f) { kLowerings[f.in().number()](f); }

}  // namespace dvm::vm::translate
