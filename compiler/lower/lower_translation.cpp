// Structures made by translators. Tests: tests/golden/lower (tst.xlate.d), tests/runtime/language (tst.xlate.d).
#include <algorithm>

#include "compiler/lower/expr_lowering.h"
#include "compiler/lower/operators.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

// The address of a member.
VirtualRegister offset_by(ExprLowering& c, VirtualRegister base, uint64_t offset) {
  return offset == 0 ? base : compute(c, Op::add, base, c.out.integer(offset));
}

void store_member(ExprLowering& c, VirtualRegister base, const TranslatedMember& member) {
  const Type* type = member.field->type;
  const VirtualRegister value = lower_as(c, *member.value, type);
  const VirtualRegister at = offset_by(c, base, member.field->offset);
  const bool is_text = is_string(type) || (cls(type) == TypeClass::array && is_char_pointer(type));
  if (is_text && cls(member.value->type) != TypeClass::array)
    copy_string(c, *member.value, value, at, resolve(*type).size);
  else if (cls(type) == TypeClass::array)
    c.out.copy(value, c.out.integer(std::min(resolve(*type).size, resolve(*member.value->type).size)), at);
  else if (member.field->bits)
    store_bits(c, at, value, *member.field);
  else
    store_memory(c, at, value, type);
}

}  // namespace

namespace {

bool may_be_null(const Expr& e) {
  if (const auto* name = as<Identifier>(&e)) return name->symbol->kind != SymbolKind::built_in;
  if (const auto* cast = as<Cast>(&e)) return !reads_string(e) && may_be_null(*cast->operand);
  if (const auto* string_of = as<StringOf>(&e)) return !reads_string(e) && may_be_null(*string_of->operand);
  return e.kind != ExprKind::String && e.kind != ExprKind::Member;
}

void copy_present(ExprLowering& c, VirtualRegister string, VirtualRegister to, uint64_t size) {
  c.out.push_string(string);
  c.out.push_value(0);
  c.out.push_value(c.out.integer(size - 1));
  const VirtualRegister cut = c.out.call(static_cast<unsigned>(dif::Subroutine::substr));
  c.out.push_string(cut);
  const VirtualRegister length = c.out.call(static_cast<unsigned>(dif::Subroutine::strlen));
  c.out.copy(cut, compute(c, Op::add, length, c.out.integer(1)), to);
}

}  // namespace

void copy_string(ExprLowering& c, const Expr& value, VirtualRegister string, VirtualRegister to, uint64_t size) {
  if (value.is_zero_constant) return c.out.store(Opcode::stb, 0, to);
  if (!may_be_null(value)) return copy_present(c, string, to, size);
  const CodeLabel is_null = c.out.make_label(), end = c.out.make_label();
  c.out.test(string);
  c.out.branch(branch_of(Op::equal), is_null);
  copy_present(c, string, to, size);
  c.out.jump(end);
  c.out.place(is_null);
  c.out.store(Opcode::stb, 0, to);
  c.out.place(end);
}

LoweredValue lower_node(ExprLowering& c, const Translate& e) {
  if (e.operand) lower_statement(c, *e.operand);
  const VirtualRegister base = c.out.unary(Opcode::allocs, c.out.integer(resolve(*e.type).size));
  for (const TranslatedMember& member : e.members) store_member(c, base, member);
  return {base};
}

}  // namespace dvm::compiler
