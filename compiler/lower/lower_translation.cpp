// Structures made by translators. Tests: tests/golden/lower (tst.xlate.d), tests/runtime/language (tst.xlate.d).
#include <algorithm>

#include "compiler/lower/expr_lowering.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

using dif::Opcode;

// The address of a member.
Register ExprLowering::offset_by(Register base, uint64_t offset) {
  return offset == 0 ? base : out_.log(Opcode::add, base, out_.integer(offset));
}

// Copies as much of a string as fits, with its NUL.
void ExprLowering::copy_string(Register string, Register to, uint64_t size) {
  out_.push_string(string);
  out_.push_value(0);
  out_.push_value(out_.integer(size - 1));
  const Register cut = out_.call(static_cast<unsigned>(dif::Subroutine::substr));
  out_.push_string(cut);
  const Register length = out_.call(static_cast<unsigned>(dif::Subroutine::strlen));
  out_.copy(cut, out_.log(Opcode::add, length, out_.integer(1)), to);
}

void ExprLowering::store_member(Register base, const TranslatedMember& member) {
  const Type* type = member.field->type;
  const Register value = lower_as(*member.value, type);
  const Register at = offset_by(base, member.field->offset);
  const bool is_text = is_string(type) || (cls(type) == TypeClass::array && is_char_pointer(type));
  if (is_text && cls(member.value->type) != TypeClass::array)
    copy_string(value, at, resolve(*type).size);
  else if (cls(type) == TypeClass::array)
    out_.copy(value, out_.integer(std::min(resolve(*type).size, resolve(*member.value->type).size)), at);
  else if (member.field->bits)
    store_bits(at, value, *member.field);
  else
    store_memory(at, value, type);
}

LoweredValue ExprLowering::lower_node(const Translate& e) {
  if (e.operand) lower_statement(*e.operand);
  const Register base = out_.unary(Opcode::allocs, out_.integer(resolve(*e.type).size));
  for (const TranslatedMember& member : e.members) store_member(base, member);
  return {base};
}

}  // namespace dvm::compiler
