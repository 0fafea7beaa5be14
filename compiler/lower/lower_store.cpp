// Loads and stores: variables, elements, memory, bit-fields; ++ and +=. Tests: tests/golden/lower.
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

Opcode load_opcode(uint64_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? Opcode::ldsb : Opcode::ldub;
    case 2:
      return is_signed ? Opcode::ldsh : Opcode::lduh;
    case 4:
      return is_signed ? Opcode::ldsw : Opcode::lduw;
    default:
      return Opcode::ldx;
  }
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

}  // namespace

Value ExprLowering::load_variable(const Symbol& symbol) {
  const unsigned reg = out_.allocate();
  out_.variable(opcodes(symbol).load, symbol, reg, false);
  return {reg};
}

Value ExprLowering::load_memory(unsigned reg, const Type* type) {
  if (!is_by_reference(type)) out_.unary(load_opcode(resolve(*type).size, is_signed(type)), reg, reg);
  return {reg};
}

// The unit is loaded, and shifted up and down again so that the field is extended as its type says.
Value ExprLowering::load_bits(unsigned reg, const Field& field) {
  out_.unary(load_opcode(field.storage, false), reg, reg);
  extract_bits(reg, field, field.shift);
  return {reg};
}

void ExprLowering::extract_bits(unsigned reg, const Field& field, unsigned shift) {
  shift_by(Opcode::sll, reg, 64 - shift - field.bits);
  shift_by(is_signed(field.type) ? Opcode::sra : Opcode::srl, reg, 64 - field.bits);
}

void ExprLowering::store_memory(unsigned address, unsigned reg, const Type* type) {
  if (!is_by_reference(type)) return out_.unary(store_opcode(resolve(*type).size), reg, address);
  const unsigned size = out_.allocate();
  out_.set_integer(resolve(*type).size, size);
  out_.log(Opcode::copys, reg, size, address);
  out_.free(size);
}

void ExprLowering::store_bits(unsigned address, unsigned reg, const Field& field) {
  const uint64_t mask = (field.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << field.bits) - 1);
  const unsigned unit = out_.allocate(), bits = out_.allocate();
  out_.set_integer(mask, bits);
  out_.log(Opcode::and_, reg, bits, bits);
  if (field.shift != 0) shift_by(Opcode::sll, bits, field.shift);
  out_.unary(load_opcode(field.storage, false), address, unit);
  const unsigned keep = out_.allocate();
  out_.set_integer(~(mask << field.shift), keep);
  out_.log(Opcode::and_, unit, keep, unit);
  out_.log(Opcode::or_, unit, bits, unit);
  out_.unary(store_opcode(field.storage), unit, address);
  out_.free(keep), out_.free(bits), out_.free(unit);
}

namespace {

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

}  // namespace

// The address of what lies in memory.
unsigned ExprLowering::address_of(const Expr& e) {
  if (const auto* unary = as<Unary>(&e); unary && unary->op == Op::dereference) return canonical(*unary->operand);
  if (const auto* member = as<Member>(&e)) {
    const unsigned reg = member->arrow ? canonical(*member->base) : address_of(*member->base);
    if (member->field->offset != 0) {
      const unsigned offset = out_.allocate();
      out_.set_integer(member->field->offset, offset);
      out_.log(Opcode::add, reg, offset, reg);
      out_.free(offset);
    }
    return reg;
  }
  if (const auto* index = as<Index>(&e); index && !array_of(*index)) {
    const unsigned reg = canonical(*index->base);
    const unsigned by = canonical(*index->arguments[0]);
    scale(by, resolve(*target_of(index->base->type)).size);
    out_.log(Opcode::add, reg, by, reg);
    out_.free(by);
    return reg;
  }
  return canonical(e);  // a by-reference value is its address
}

Value ExprLowering::lower_node(const Index& e) {
  const Symbol* array = array_of(e);
  if (!array) return load_memory(address_of(e), e.type);
  if (array->kind == SymbolKind::built_in) {
    const unsigned index = canonical(*e.arguments[0]);
    out_.log(Opcode::ldga, array->id, index, index);
    return {index};
  }
  const Place p = place(e);
  open(p);
  const Value v = load(p);
  close(p);
  return v;
}

Value ExprLowering::lower_node(const Member& e) {
  const unsigned reg = address_of(e);
  return e.field->bits ? load_bits(reg, *e.field) : load_memory(reg, e.type);
}

ExprLowering::Place ExprLowering::place(const Expr& e) {
  Place p;
  p.type = e.type;
  const auto* index = as<Index>(&e);
  if (const Symbol* symbol = symbol_of(e)) {
    p.symbol = symbol;
  } else if (const Symbol* array = index ? array_of(*index) : nullptr) {
    p.symbol = array;
    p.keys = &index->arguments;
  } else {
    p.address = address_of(e);
    const auto* member = as<Member>(&e);
    if (member && member->field->bits) p.field = member->field;
  }
  return p;
}

// Pushes the keys of an element, which then stay on the tuple stack for load and store, up to close.
void ExprLowering::open(const Place& p) {
  if (p.keys) push_all(*p.keys);
}

void ExprLowering::close(const Place& p) {
  if (p.keys) out_.plain(Opcode::flushts);
  out_.free(p.address);
}

Value ExprLowering::load(const Place& p) {
  const unsigned reg = out_.allocate();
  if (p.symbol) {
    out_.variable(p.keys ? opcodes(*p.symbol).load_element : opcodes(*p.symbol).load, *p.symbol, reg, false);
    return {reg};
  }
  out_.unary(Opcode::mov, p.address, reg);
  return p.field ? load_bits(reg, *p.field) : load_memory(reg, p.type);
}

void ExprLowering::store(const Place& p, unsigned reg) {
  if (p.symbol) return out_.variable(p.keys ? opcodes(*p.symbol).store_element : opcodes(*p.symbol).store, *p.symbol, reg, true);
  if (p.field) return store_bits(p.address, reg, *p.field);
  store_memory(p.address, reg, p.type);
}

// Stores a value of type `from`, which becomes one of the place's type; what does not fit a bit-field is lost.
Value ExprLowering::finish(const Place& p, Value v, const Type* from, Wanted wanted) {
  const Type* to = p.stored_type();
  if (resolve(*to).is_bool) {
    normalize(v, from);
    v = {truth_of(v.reg)};
  } else if (!p.field) {
    v.canonical = false;
    normalize(v, to);
  }
  store(p, v.reg);
  if (p.field && wanted == Wanted::after) extract_bits(v.reg, *p.field, 0);
  return {v.reg};
}

// ++ and --.
Value ExprLowering::step(const Expr& target, Op op, Wanted wanted) {
  const Place p = place(target);
  open(p);
  const Value old = load(p);
  Value changed{old.reg, false};
  if (wanted == Wanted::before) {
    changed.reg = out_.allocate();
    out_.unary(Opcode::mov, old.reg, changed.reg);
  }
  const unsigned by = out_.allocate();
  out_.set_integer(is_pointer(target.type) ? resolve(*target_of(target.type)).size : 1, by);
  out_.log(op == Op::increment ? Opcode::add : Opcode::sub, changed.reg, by, changed.reg);
  out_.free(by);
  changed = finish(p, changed, types_.promote(target.type), wanted);
  close(p);
  if (wanted == Wanted::before) out_.free(changed.reg);
  return {wanted == Wanted::before ? old.reg : changed.reg};
}

// The type in which target op value is computed.
const Type* ExprLowering::compound_type(const Assign& e) const {
  if (is_pointer(e.target->type)) return e.target->type;
  if (e.op == Op::shift_left || e.op == Op::shift_right) return types_.promote(e.target->type);
  return types_.common(e.target->type, e.value->type);
}

// The value is taken first: it may use the tuple stack.
Value ExprLowering::compound(const Assign& e, Wanted wanted) {
  const Type* type = e.target->type;
  const Type* in = compound_type(e);
  const unsigned right = in == type ? canonical(*e.value) : lower_as(*e.value, in);
  if (is_pointer(type)) scale(right, resolve(*target_of(type)).size);
  const Place p = place(*e.target);
  open(p);
  Value v = load(p);
  if (in != type && is_signed(type) && !is_signed(in)) {
    v.canonical = false;
    normalize(v, in);
  }
  binary_op(e.op, in, v.reg, right);
  out_.free(right);
  v.canonical = false;
  v = finish(p, v, in, wanted);
  close(p);
  return v;
}

Value ExprLowering::assign(const Assign& e, Wanted wanted) {
  if (e.op != Op::assign) return compound(e, wanted);
  const auto* member = as<Member>(e.target.get());
  const bool is_bits = member && member->field->bits;
  const unsigned reg = lower_as(*e.value, is_bits ? member->field->type : e.target->type);
  const Place p = place(*e.target);
  open(p);
  store(p, reg);
  close(p);
  if (is_bits && wanted == Wanted::after) extract_bits(reg, *member->field, 0);
  return {reg};
}

void ExprLowering::lower_statement(const Expr& e) {
  Value v;
  if (const auto* postfix = as<Postfix>(&e))
    v = step(*postfix->operand, postfix->op, Wanted::none);
  else if (const auto* assignment = as<Assign>(&e))
    v = assign(*assignment, Wanted::none);
  else
    v = lower(e);
  out_.free(v.reg);
}

}  // namespace dvm::compiler
