#pragma once
// One DIF instruction: 32 bits, the opcode in the top byte.
//
//   log                   | op | r1 | r2 | rd |        load, r1rd  | op | r1 |  0 | rd |
//   copy                  | op | r1 | r2 | rd |        store       | op | r1 |  0 | rd |   (value r1, address rd)
//   cmp                   | op | r1 | r2 |  0 |        ret         | op |  0 |  0 | rd |
//   tst                   | op | r1 |  0 |  0 |        setx, sets  | op |  index  | rd |
//   branch                | op |    label     |        call        | op |  subr   | rd |
//   ldv, stv              | op | variable| rd |        pushts      | op |type| r2 | rd |   (address rd, size r2)
//   lda                   | op |var | r2 | rd |        pushv       | op |type|  0 | rd |   (value rd)
//
// copy reads rd, an address, and does not write it. A label is the index of an instruction. Registers are 0 to 7; %r0 reads as
// zero and may not be written.

#include <cstdint>

#include "dvm/dif/opcode.h"

namespace dvm::dif {

inline constexpr unsigned kRegisters = 8;
inline constexpr unsigned kTupleDepth = 24;       // most keys or arguments on the tuple stack
inline constexpr unsigned kMaxDifo = 256 * 1024;  // most bytes of a DIFO, text and tables
inline constexpr unsigned kMaxInstructions = kMaxDifo / sizeof(uint32_t);

// The type operand of the opcodes that push on the tuple stack.
enum class PushType : uint8_t { value = 0, string = 1, bytes = 2 };

class Instruction {
 public:
  constexpr Instruction() = default;
  constexpr explicit Instruction(uint32_t word) : word_(word) {}

  static constexpr Instruction registers(Opcode op, unsigned r1, unsigned r2, unsigned rd) {
    return Instruction(static_cast<uint32_t>(op) << 24 | (r1 & 0xff) << 16 | (r2 & 0xff) << 8 | (rd & 0xff));
  }
  static constexpr Instruction indexed(Opcode op, unsigned index, unsigned rd) {
    return Instruction(static_cast<uint32_t>(op) << 24 | (index & 0xffff) << 8 | (rd & 0xff));
  }
  static constexpr Instruction branch(Opcode op, unsigned label) {
    return Instruction(static_cast<uint32_t>(op) << 24 | (label & 0xffffff));
  }

  constexpr uint32_t word() const { return word_; }
  constexpr unsigned number() const { return word_ >> 24; }  // may be no opcode at all
  constexpr Opcode opcode() const { return static_cast<Opcode>(word_ >> 24); }
  constexpr unsigned r1() const { return word_ >> 16 & 0xff; }
  constexpr unsigned r2() const { return word_ >> 8 & 0xff; }
  constexpr unsigned rd() const { return word_ & 0xff; }
  constexpr unsigned index() const { return word_ >> 8 & 0xffff; }
  constexpr unsigned label() const { return word_ & 0xffffff; }

  friend constexpr bool operator==(Instruction, Instruction) = default;

 private:
  uint32_t word_ = 0;
};

constexpr bool is_conditional(Opcode branch) { return branch != Opcode::ba; }
constexpr bool is_move(Opcode opcode) { return opcode == Opcode::mov; }

// These accept any word, even if it is not an instruction.
constexpr bool has_format(Instruction in, Format format) { return is_opcode(in.number()) && info(in.opcode()).format == format; }
constexpr bool is_branch(Instruction in) { return has_format(in, Format::branch); }
constexpr bool is_conditional(Instruction in) { return is_branch(in) && is_conditional(in.opcode()); }
constexpr bool is_move(Instruction in) { return is_move(in.opcode()); }
constexpr bool is_return(Instruction in) { return has_format(in, Format::ret); }
// Execution may continue at the next instruction.
constexpr bool goes_on(Instruction in) { return !is_return(in) && (!is_branch(in) || is_conditional(in)); }

}  // namespace dvm::dif
