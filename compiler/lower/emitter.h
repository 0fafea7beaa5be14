#pragma once
// Builds Code one step at a time. A function that computes a value returns the new register that holds it.

#include <map>
#include <string>

#include "compiler/lower/code.h"

namespace dvm::compiler {

class Emitter {
 public:
  explicit Emitter(CodeArena* arena) : code_{.steps = ArenaVector<CodeStep>(arena), .strings = {}} {
    code_.steps.reserve(kUsual);
  }

  Register fresh() { return code_.registers++; }

  Register log(dif::Opcode op, Register left, Register right);
  Register unary(dif::Opcode op, Register from);  // loads from memory too
  void compare(dif::Opcode op, Register left, Register right) { add({.op = op, .reads = {left, right}}); }
  void test(Register reg) { add({.op = dif::Opcode::tst, .reads = {reg}}); }
  Register integer(uint64_t value);
  Register string(const std::string& value);

  // To a register from fresh(), which several paths may write.
  void move(Register from, Register to) { add(CodeStep::move(from, to)); }
  void set_integer(uint64_t value, Register to) { add(CodeStep::constant(value, to)); }

  Register load(dif::Opcode op, const Symbol& symbol);
  Register load_element(const Symbol& built_in, Register index);
  // Raises the fault "index out of bounds", which ends the clause.
  void refuse_index(Register index);
  void save(dif::Opcode op, const Symbol& symbol, Register value);
  void store(dif::Opcode op, Register value, Register address) { add({.op = op, .reads = {value, address}}); }
  void copy(Register from, Register size, Register to) { add({.op = dif::Opcode::copys, .reads = {from, size, to}}); }

  void push_value(Register value) { push(dif::Opcode::pushtv, dif::PushType::value, 0, value); }
  void push_string(Register address) { push(dif::Opcode::pushtr, dif::PushType::string, 0, address); }
  void push_bytes(Register address, Register size) { push(dif::Opcode::pushtr, dif::PushType::bytes, size, address); }
  Register call(unsigned subroutine);
  void empty_tuple() { add({.op = dif::Opcode::flushts}); }

  CodeLabel make_label() { return code_.labels++; }
  void place(CodeLabel label) { add({.is_label = true, .value = label}); }
  void branch(dif::Opcode op, CodeLabel label) { add({.op = op, .value = label}); }

  void jump(CodeLabel label) { add(CodeStep::jump(label)); }

  // Ends the code with `ret reg`.
  Code finish(Register reg);

 private:
  void add(const CodeStep& step) { code_.steps.push_back(step); }
  void push(dif::Opcode op, dif::PushType type, Register size, Register value);

  static constexpr size_t kUsual = 16;  // steps

  Code code_;
  std::map<std::string, uint64_t> strings_;
};

}  // namespace dvm::compiler
