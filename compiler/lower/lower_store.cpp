// Loads and stores: variables, elements, memory, bit-fields; ++ and +=. Tests: tests/golden/lower.
#include <utility>

#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

struct VariableOpcodes {
  Opcode load, store, load_element, store_element;
};

// By scope: global, thread, clause.
constexpr VariableOpcodes kVariable[] = {
    {Opcode::ldgs, Opcode::stgs, Opcode::ldgaa, Opcode::stgaa},
    {Opcode::ldts, Opcode::stts, Opcode::ldtaa, Opcode::sttaa},
    {Opcode::ldls, Opcode::stls, Opcode::nop, Opcode::nop},
};
const VariableOpcodes& opcodes(const Symbol& symbol) { return kVariable[static_cast<unsigned>(symbol.scope)]; }

struct LoadOpcodes {
  uint64_t size;
  Opcode with_sign, without, user_with_sign, user_without;
};
constexpr LoadOpcodes kLoad[] = {
    {1, Opcode::ldsb, Opcode::ldub, Opcode::uldsb, Opcode::uldub},
    {2, Opcode::ldsh, Opcode::lduh, Opcode::uldsh, Opcode::ulduh},
    {4, Opcode::ldsw, Opcode::lduw, Opcode::uldsw, Opcode::ulduw},
};

Opcode load_opcode(uint64_t size, bool is_signed, bool is_user) {
  for (const LoadOpcodes& row : kLoad) {
    if (row.size != size) continue;
    return is_user ? (is_signed ? row.user_with_sign : row.user_without) : (is_signed ? row.with_sign : row.without);
  }
  return is_user ? Opcode::uldx : Opcode::ldx;
}

Opcode store_opcode(uint64_t size) {
  switch (size) {
    case 1:
      return Opcode::stb;
    case 2:
      return Opcode::sth;
    case 4:
      return Opcode::stw;
    default:
      return Opcode::stx;
  }
}

const Symbol* symbol_of(const Expr& e) {
  if (const auto* name = as<Identifier>(&e)) return name->symbol;
  if (const auto* scoped = as<Scoped>(&e)) return scoped->symbol;
  return nullptr;
}

// The array whose element this is, if it is one of a variable.
const Symbol* array_of(const Index& e) {
  const Symbol* symbol = symbol_of(*e.base);
  return symbol && symbol->is_array ? symbol : nullptr;
}

// The structure in which a part of it lies, if that is a dynamic variable: an element, or one of a thread. Null: it is not.
const Expr* dynamic_object(const Expr& part) {
  if (const auto* member = as<Member>(&part)) return member->arrow ? nullptr : dynamic_object(*member->base);
  if (const auto* cast = as<Cast>(&part); cast && is_string(cast->operand->type)) return dynamic_object(*cast->operand);
  if (const auto* index = as<Index>(&part); index && !array_of(*index) && index->base->kind == ExprKind::Cast)
    return dynamic_object(*index->base);  // a character of a string
  if (const auto* index = as<Index>(&part); index && !array_of(*index))
    return is_by_reference(index->base->type) ? dynamic_object(*index->base) : nullptr;
  if (const auto* index = as<Index>(&part)) return array_of(*index)->kind == SymbolKind::built_in ? nullptr : &part;
  const Symbol* symbol = symbol_of(part);
  return symbol && symbol->scope == dif::Scope::thread && symbol->kind != SymbolKind::built_in ? &part : nullptr;
}

// The field out of a unit that has nothing above its storage: shifted up and down again so that it is extended as its type says.
LoweredValue extract_bits(ExprLowering& c, VirtualRegister unit, const Field& field, unsigned shift) {
  const bool with_sign = is_signed(field.type);
  if (!with_sign && shift == 0) return {compute(c, Op::bit_and, unit, c.out.integer(~uint64_t{0} >> (64 - field.bits)))};
  if (!with_sign && shift + field.bits == field.storage * 8) return {shift_by(c, Op::shift_right, unit, shift)};
  const VirtualRegister up = shift_by(c, Op::shift_left, unit, 64 - shift - field.bits);
  return {shift_by(c, Op::shift_right, up, 64 - field.bits, with_sign)};
}

LoweredValue load_bits(ExprLowering& c, VirtualRegister address, const Field& field, bool is_user) {
  return extract_bits(c, c.out.unary(load_opcode(field.storage, false, is_user), address), field, field.shift);
}

}  // namespace

LoweredValue load_memory(ExprLowering& c, VirtualRegister address, const Type* type, bool is_user) {
  if (is_by_reference(type)) return {address};
  return {c.out.unary(load_opcode(resolve(*type).size, is_signed(type), is_user), address)};
}

void store_memory(ExprLowering& c, VirtualRegister address, VirtualRegister reg, const Type* type) {
  if (!is_by_reference(type)) return c.out.store(store_opcode(resolve(*type).size), reg, address);
  c.out.copy(reg, c.out.integer(resolve(*type).size), address);
}

void store_bits(ExprLowering& c, VirtualRegister address, VirtualRegister reg, const Field& field) {
  const uint64_t mask = (field.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << field.bits) - 1);
  VirtualRegister bits = compute(c, Op::bit_and, reg, c.out.integer(mask));
  if (field.shift != 0) bits = shift_by(c, Op::shift_left, bits, field.shift);
  const VirtualRegister unit = c.out.unary(load_opcode(field.storage, false, false), address);
  const VirtualRegister others = compute(c, Op::bit_and, unit, c.out.integer(~(mask << field.shift)));
  c.out.store(store_opcode(field.storage), compute(c, Op::bit_or, others, bits), address);
}

namespace {

// How many elements there are, if that is known and the index may not be among them. 0: nothing to check. Of a string, the
// characters that are stored are checked: what is read of it may be anywhere.
uint64_t bound_of(const ExprLowering& c, const Index& e) {
  const Type& base = resolve(*e.base->type);
  const auto* cast = as<Cast>(e.base.get());
  const uint64_t count = e.base->is_user                                            ? 0
                         : base.cls == TypeClass::array                             ? base.count
                         : cast && is_string(cast->operand->type) && c.stored == &e ? resolve(*cast->operand->type).size
                                                                                    : 0;
  const auto* number = as<Integer>(e.arguments[0].get());
  return number && number->value < count ? 0 : count;
}

void check_index(ExprLowering& c, VirtualRegister index, uint64_t count) {
  const CodeLabel is_inside = c.out.make_label();
  c.out.compare(Opcode::cmp, index, c.out.integer(count));
  c.out.branch(Opcode::blu, is_inside);
  c.out.refuse_index(index);
  c.out.place(is_inside);
}

// Where the virtual base of an object begins. It lies at that distance in the traced program only: behind a copy in D memory
// there are other bytes. So the load fails there.
VirtualRegister address_of_base(ExprLowering& c, VirtualRegister object, const VirtualBase& base) {
  const VirtualRegister part = compute(c, Op::add, object, c.out.integer(base.offset));
  const VirtualRegister table = c.out.unary(Opcode::uldx, part);
  const VirtualRegister distance = c.out.unary(Opcode::uldx, compute(c, Op::subtract, table, c.out.integer(base.slot)));
  return compute(c, Op::add, part, distance);
}

}  // namespace

VirtualRegister address_of(ExprLowering& c, const Expr& e) {
  if (const auto* unary = as<Unary>(&e); unary && unary->op == Op::dereference) return lower_uncut(c, *unary->operand);
  if (const auto* external = as<External>(&e)) return c.out.integer(external->address);
  if (const auto* member = as<Member>(&e)) {
    VirtualRegister base = member->arrow ? lower_uncut(c, *member->base) : address_of(c, *member->base);
    for (const VirtualBase* next : member->through) base = address_of_base(c, base, *next);
    return compute(c, Op::add, base, c.out.integer(member->field->offset));
  }
  if (const auto* index = as<Index>(&e); index && !array_of(*index)) {
    const OperandPair operands = lower_pair(c, *index->base, *index->arguments[0]);
    if (const uint64_t count = bound_of(c, *index)) check_index(c, operands.right, count);
    return compute(c, Op::add, operands.left, scale(c, operands.right, resolve(*target_of(index->base->type)).size));
  }
  return lower_uncut(c, e);  // a by-reference value is its address
}

namespace {

// What can be stored to, kept between a load and a store.
struct StoreTarget {
  const Symbol* symbol = nullptr;              // a variable
  const std::vector<ExprPtr>* keys = nullptr;  // an element of it
  std::vector<VirtualRegister> held_keys;      // their values, if they are pushed more than once
  VirtualRegister address = 0;                 // or memory
  const Field* field = nullptr;                // a bit-field at it
  const Type* type = nullptr;
};

StoreTarget store_target(ExprLowering& c, const Expr& e) {
  StoreTarget p;
  p.type = e.type;
  const auto* index = as<Index>(&e);
  if (const Symbol* symbol = symbol_of(e)) {
    p.symbol = symbol;
  } else if (const Symbol* array = index ? array_of(*index) : nullptr) {
    p.symbol = array;
    p.keys = &index->arguments;
  } else {
    const Expr* const before = std::exchange(c.stored_in, dynamic_object(e));
    c.stored = &e;
    p.address = address_of(c, e);
    c.stored = nullptr;
    c.stored_in = before;
    const auto* member = as<Member>(&e);
    if (member && member->field->bits) p.field = member->field;
  }
  return p;
}

// Pushes the keys of an element, which then stay on the tuple stack for load and store, up to close.
void push_keys(ExprLowering& c, const StoreTarget& p) {
  if (!p.keys) return;
  p.held_keys.empty() ? push_all(c, *p.keys) : push_held(c, *p.keys, p.held_keys);
}

void flush_keys(ExprLowering& c, const StoreTarget& p) {
  if (p.keys) c.out.empty_tuple();
}

LoweredValue load(ExprLowering& c, const StoreTarget& p) {
  if (p.symbol) return {c.out.load(p.keys ? opcodes(*p.symbol).load_element : opcodes(*p.symbol).load, *p.symbol)};
  return p.field ? load_bits(c, p.address, *p.field, false) : load_memory(c, p.address, p.type, false);
}

void store(ExprLowering& c, const StoreTarget& p, VirtualRegister reg) {
  if (p.symbol) return c.out.save(p.keys ? opcodes(*p.symbol).store_element : opcodes(*p.symbol).store, *p.symbol, reg);
  if (p.field) return store_bits(c, p.address, reg, *p.field);
  store_memory(c, p.address, reg, p.type);
}

// A structure that is not there yet is read as zeros, which cannot be written to: stored, they make it be there.
LoweredValue load_made(ExprLowering& c, const StoreTarget& p) {
  store(c, p, load(c, p).reg);
  return load(c, p);
}

LoweredValue load_variable(ExprLowering& c, const Expr& e, const Symbol& symbol) {
  return &e == c.stored_in ? load_made(c, store_target(c, e)) : LoweredValue{c.out.load(opcodes(symbol).load, symbol)};
}

// Stores a number of type `from`, which becomes one of the place's type; what does not fit a bit-field is lost. Variables and
// memory take the bytes of their type.
LoweredValue finish(ExprLowering& c, const StoreTarget& p, LoweredValue v, const Type* from) {
  const Type& to = resolve(*p.type);
  if (to.is_bool && !resolve(*from).is_bool) {
    v = truth_of(c, v.reg);
  } else {
    v.held = to.size >= 8 ? Held::fitting : Held::low;
  }
  store(c, p, v.reg);
  return p.field ? extract_bits(c, v.reg, *p.field, 0) : v;
}

// The result of ++ and --. A _Bool becomes 1 by ++, and is inverted by --.
VirtualRegister stepped(ExprLowering& c, VirtualRegister old, Op op, const Type* type) {
  if (resolve(*type).is_bool) return op == Op::increment ? c.out.integer(1) : compute(c, Op::bit_xor, old, c.out.integer(1));
  const VirtualRegister by = c.out.integer(is_pointer(type) ? resolve(*target_of(type)).size : 1);
  return compute(c, op == Op::increment ? Op::add : Op::subtract, old, by);
}

}  // namespace

LoweredValue lower_node(ExprLowering& c, const Identifier& e) { return load_variable(c, e, *e.symbol); }
LoweredValue lower_node(ExprLowering& c, const Scoped& e) { return load_variable(c, e, *e.symbol); }
LoweredValue lower_node(ExprLowering& c, const External& e) { return load_memory(c, address_of(c, e), e.type, true); }

LoweredValue lower_node(ExprLowering& c, const Index& e) {
  const Symbol* array = array_of(e);
  if (!array) return load_memory(c, address_of(c, e), e.type, e.is_user);
  if (array->kind == SymbolKind::built_in) return {c.out.load_element(*array, lower_uncut(c, *e.arguments[0]))};
  const StoreTarget p = store_target(c, e);
  push_keys(c, p);
  const LoweredValue v = &e == c.stored_in ? load_made(c, p) : load(c, p);
  flush_keys(c, p);
  return v;
}

LoweredValue lower_node(ExprLowering& c, const Member& e) {
  const VirtualRegister at = address_of(c, e);
  return e.field->bits ? load_bits(c, at, *e.field, e.is_user) : load_memory(c, at, e.type, e.is_user);
}

LoweredValue lower_node(ExprLowering& c, const Postfix& e) { return step(c, *e.operand, e.op, true); }

LoweredValue step(ExprLowering& c, const Expr& target, Op op, bool postfix) {
  const StoreTarget p = store_target(c, target);
  push_keys(c, p);
  const LoweredValue old = load(c, p);
  const Type* type = p.type;
  const LoweredValue changed{stepped(c, old.reg, op, type), Held::number};
  const LoweredValue after = finish(c, p, changed, resolve(*type).is_bool ? type : c.types.promote(type));
  flush_keys(c, p);
  return postfix ? old : after;
}

namespace {

// The type in which target op value is computed.
const Type* compound_type(ExprLowering& c, const Assign& e) {
  if (is_pointer(e.target->type)) return e.target->type;
  if (e.op == Op::shift_left || e.op == Op::shift_right) return c.types.promote(e.target->type);
  return c.types.common(e.target->type, e.value->type);
}

bool changes_variables(const Expr& e) {
  const auto* unary = as<Unary>(&e);
  bool changes = e.kind == ExprKind::Assign || e.kind == ExprKind::Postfix ||
                 (unary && (unary->op == Op::increment || unary->op == Op::decrement));
  for_each_child(const_cast<Expr&>(e), [&](ExprPtr& child) { changes = changes || changes_variables(*child); });
  return changes;
}

// What is added to a pointer is counted in what it points at.
VirtualRegister compound_operand(ExprLowering& c, const Assign& e) {
  const VirtualRegister value = lower_uncut(c, *e.value);
  return is_pointer(e.target->type) ? scale(c, value, resolve(*target_of(e.target->type)).size) : value;
}

// D reads the target before the value. Where the order makes no difference, the value is computed first, since it may use the
// tuple stack: the keys of the target would have to be pushed again after it.
LoweredValue compound(ExprLowering& c, const Assign& e) {
  const Type* in = compound_type(c, e);
  const bool target_first = changes_variables(*e.value);
  VirtualRegister right = target_first ? 0 : compound_operand(c, e);
  StoreTarget p = store_target(c, *e.target);
  if (target_first && p.keys) p.held_keys = lower_all(c, *p.keys);
  push_keys(c, p);
  const VirtualRegister left = load(c, p).reg;
  if (target_first) {
    flush_keys(c, p);
    right = compound_operand(c, e);
    push_keys(c, p);
  }
  const bool has_sign = is_signed(e.target->type);  // DTrace asks the target only
  const LoweredValue v = finish(c, p, {compute(c, e.op, left, right, has_sign), Held::number}, in);
  flush_keys(c, p);
  return v;
}

}  // namespace

// The value of an assignment is that of the target.
LoweredValue lower_node(ExprLowering& c, const Assign& e) {
  if (e.op != Op::assign) return compound(c, e);
  const LoweredValue v = is_user_object(*e.value) ? lower_value(c, *e.value) : lower_low(c, *e.value, e.target->type);
  const StoreTarget p = store_target(c, *e.target);
  push_keys(c, p);
  if (!p.symbol && is_string(p.type))
    copy_string(c, *e.value, v.reg, p.address, resolve(*p.type).size);  // it may lie in fewer bytes
  else
    store(c, p, v.reg);
  flush_keys(c, p);
  return p.field ? extract_bits(c, v.reg, *p.field, 0) : v;
}

}  // namespace dvm::compiler
