// Structures made by translators. Tests: tests/golden/lower (tst.xlate.d), tests/runtime/language (tst.xlate.d).
#include <algorithm>

#include "compiler/lower/expr_lowering.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

using dif::Opcode;

// A new register with the address of a member.
unsigned ExprLowering::offset_by(unsigned base, uint64_t offset) {
  const unsigned at = out_.allocate();
  if (offset == 0) {
    out_.unary(Opcode::mov, base, at);
  } else {
    out_.set_integer(offset, at);
    out_.log(Opcode::add, base, at, at);
  }
  return at;
}

// Scratch holds what an earlier allocation left. One word is cleared, then what is clear is copied behind itself.
void ExprLowering::clear(unsigned base, uint64_t size) {
  out_.unary(Opcode::stx, 0, base);
  for (uint64_t done = 8; done < size; done *= 2) {
    const unsigned to = offset_by(base, done), count = out_.allocate();
    out_.set_integer(std::min(done, size - done), count);
    out_.log(Opcode::copys, base, count, to);
    out_.free(count), out_.free(to);
  }
}

// As much of a string as fits, with its NUL.
void ExprLowering::copy_string(unsigned string, unsigned to, uint64_t size) {
  const auto call = [this](dif::Subroutine subroutine, unsigned reg) {
    out_.indexed(Opcode::call, static_cast<unsigned>(subroutine), reg);
  };
  const unsigned number = out_.allocate();
  out_.push(Opcode::pushtr, dif::PushType::string, 0, string);
  out_.push(Opcode::pushtv, dif::PushType::value, 0, 0);
  out_.set_integer(size - 1, number);
  out_.push(Opcode::pushtv, dif::PushType::value, 0, number);
  call(dif::Subroutine::substr, string);
  out_.push(Opcode::pushtr, dif::PushType::string, 0, string);
  call(dif::Subroutine::strlen, number);
  out_.log(Opcode::copys, string, number, to);  // the rest is clear
  out_.free(number);
}

void ExprLowering::copy_array(unsigned array, unsigned to, uint64_t size) {
  const unsigned count = out_.allocate();
  out_.set_integer(size, count);
  out_.log(Opcode::copys, array, count, to);
  out_.free(count);
}

void ExprLowering::store_member(unsigned base, const TranslatedMember& member) {
  const Type* type = member.field->type;
  const unsigned value = lower_as(*member.value, type);
  const unsigned at = offset_by(base, member.field->offset);
  const bool is_text = is_string(type) || (cls(type) == TypeClass::array && is_char_pointer(type));
  if (is_text && cls(member.value->type) != TypeClass::array)
    copy_string(value, at, resolve(*type).size);
  else if (cls(type) == TypeClass::array)
    copy_array(value, at, std::min(resolve(*type).size, resolve(*member.value->type).size));
  else if (member.field->bits)
    store_bits(at, value, *member.field);
  else
    store_memory(at, value, type);
  out_.free(at), out_.free(value);
}

Value ExprLowering::lower_node(const Translate& e) {
  if (e.operand) lower_statement(*e.operand);
  const uint64_t size = std::max<uint64_t>(resolve(*e.type).size, 8);
  const unsigned base = out_.allocate();
  out_.set_integer(size, base);
  out_.unary(Opcode::allocs, base, base);
  clear(base, size);
  for (const TranslatedMember& member : e.members) store_member(base, member);
  return {base};
}

}  // namespace dvm::compiler
