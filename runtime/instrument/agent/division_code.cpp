// Tested by tests/unit/instrument/clause_code_test.cpp.
//
// The multipliers are those of Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994).

#include "runtime/instrument/agent/division_code.h"

#include <algorithm>
#include <bit>

namespace dvm::runtime {
namespace {

__extension__ using Wide = unsigned __int128;
using dif::Opcode;
constexpr unsigned kInRax = ValueWriter::kRax, kInRcx = ValueWriter::kRcx, kInRdx = ValueWriter::kRdx;
constexpr unsigned kRight = 5, kArithmeticRight = 7;  // ways to shift

void shift(ValueWriter& code, unsigned way, unsigned reg, unsigned bits) {
  if (bits == 0) return;
  code.operate({0xc1}, way, reg);
  code.add({bits});
}

// ceil(log2(value))
unsigned bits_of(uint64_t value) { return value == 0 ? 0 : static_cast<unsigned>(std::bit_width(value - 1)); }

void add_unsigned(ValueWriter& code, uint64_t divisor) {
  const unsigned bits = bits_of(divisor);
  const Wide excess = (Wide{1} << bits) - divisor;
  code.load_constant(kInRax, static_cast<uint64_t>((excess << 64) / divisor) + 1);
  code.operate({0xf7}, 4, kInRcx);  // mul %rcx: the upper half is in %rdx
  code.move(kInRcx, kInRax);
  code.operate({0x29}, kInRdx, kInRax);  // sub %rdx, %rax
  shift(code, kRight, kInRax, std::min(bits, 1U));
  code.operate({0x01}, kInRdx, kInRax);  // add %rdx, %rax
  shift(code, kRight, kInRax, bits - std::min(bits, 1U));
}

void add_signed(ValueWriter& code, uint64_t divisor) {
  const bool is_negative = static_cast<int64_t>(divisor) < 0;
  const uint64_t magnitude = is_negative ? 0 - divisor : divisor;
  const unsigned bits = std::max(bits_of(magnitude), 1U) - 1;
  code.load_constant(kInRax, static_cast<uint64_t>((Wide{1} << (64 + bits)) / magnitude) + 1);
  code.operate({0xf7}, 5, kInRcx);  // imul %rcx
  code.move(kInRcx, kInRax);
  code.operate({0x01}, kInRdx, kInRax);  // add %rdx, %rax
  shift(code, kArithmeticRight, kInRax, bits);
  code.move(kInRcx, kInRdx);
  shift(code, kArithmeticRight, kInRdx, 63);
  code.operate({0x29}, kInRdx, kInRax);              // sub %rdx, %rax: towards 0
  if (is_negative) code.operate({0xf7}, 3, kInRax);  // neg %rax
}

// Jumps ahead, in a byte, if the flags say so. Returns where the distance lies.
size_t skip_if(ValueWriter& code, unsigned condition) {
  code.add({condition, 0});
  return code.bytes.size();
}
void land(ValueWriter& code, size_t jump) { code.bytes[jump - 1] = static_cast<unsigned char>(code.bytes.size() - jump); }

constexpr unsigned kJump = 0xeb, kJumpIfNotEqual = 0x75;

}  // namespace

void add_division_by_value(ValueWriter& code, Opcode opcode, unsigned base, size_t offset) {
  const bool is_signed = opcode == Opcode::sdiv || opcode == Opcode::srem;
  const bool is_rest = opcode == Opcode::srem || opcode == Opcode::urem;
  code.add({0x48, 0x89, 0x54, 0x24, 0xf8});  // mov %rdx, -8(%rsp): it holds a register of DIF's
  code.operate({0x85}, kInRcx, kInRcx);      // test %rcx, %rcx
  const size_t is_there = skip_if(code, kJumpIfNotEqual);
  code.load_constant(kInRcx, 1);
  code.access(ValueWriter::kStore, kInRcx, base, offset);
  land(code, is_there);
  code.add({0x48, 0x83, 0xf9, 0xff});  // cmp $-1, %rcx: the most negative number by -1 would trap
  const size_t is_safe = skip_if(code, is_signed ? kJumpIfNotEqual : kJump);
  if (is_rest)
    code.load_constant(kInRax, 0);
  else
    code.operate({0xf7}, 3, kInRax);  // neg %rax
  const size_t is_done = skip_if(code, kJump);
  land(code, is_safe);
  if (is_signed)
    code.add({0x48, 0x99});  // cqo
  else
    code.load_constant(kInRdx, 0);
  code.operate({0xf7}, is_signed ? 7 : 6, kInRcx);  // idiv or div %rcx
  if (is_rest) code.move(kInRdx, kInRax);
  land(code, is_done);
  code.add({0x48, 0x8b, 0x54, 0x24, 0xf8});  // mov -8(%rsp), %rdx
}

void add_division(ValueWriter& code, Opcode opcode, uint64_t divisor) {
  const bool is_signed = opcode == Opcode::sdiv || opcode == Opcode::srem;
  code.add({0x48, 0x89, 0x54, 0x24, 0xf8});  // mov %rdx, -8(%rsp): it holds a register of DIF's
  is_signed ? add_signed(code, divisor) : add_unsigned(code, divisor);
  if (opcode == Opcode::srem || opcode == Opcode::urem) {
    code.load_constant(kInRdx, divisor);
    code.operate({0x0f, 0xaf}, kInRax, kInRdx);  // imul %rdx, %rax
    code.operate({0x29}, kInRax, kInRcx);        // sub %rax, %rcx
    code.move(kInRcx, kInRax);
  }
  code.add({0x48, 0x8b, 0x54, 0x24, 0xf8});  // mov -8(%rsp), %rdx
}

}  // namespace dvm::runtime
