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

  VirtualRegister fresh() { return code_.registers++; }

  VirtualRegister log(dif::Opcode op, VirtualRegister left, VirtualRegister right);
  VirtualRegister unary(dif::Opcode op, VirtualRegister from);  // loads from memory too
  void compare(dif::Opcode op, VirtualRegister left, VirtualRegister right) { add({.op = op, .reads = {left, right}}); }
  void test(VirtualRegister reg) { add({.op = dif::Opcode::tst, .reads = {reg}}); }
  VirtualRegister integer(uint64_t value);
  VirtualRegister string(const std::string& value);

  // To a register from fresh(), which several paths may write.
  void move(VirtualRegister from, VirtualRegister to) { add(CodeStep::move(from, to)); }
  void set_integer(uint64_t value, VirtualRegister to) { add(CodeStep::constant(value, to)); }

  VirtualRegister load(dif::Opcode op, const Symbol& symbol);
  VirtualRegister load_element(const Symbol& built_in, VirtualRegister index);
  // Raises the fault "index out of bounds", which ends the clause.
  void refuse_index(VirtualRegister index);
  void save(dif::Opcode op, const Symbol& symbol, VirtualRegister value);
  void store(dif::Opcode op, VirtualRegister value, VirtualRegister address) { add({.op = op, .reads = {value, address}}); }
  void copy(VirtualRegister from, VirtualRegister size, VirtualRegister to) {
    add({.op = dif::Opcode::copys, .reads = {from, size, to}});
  }

  void push_value(VirtualRegister value) { push(dif::Opcode::pushtv, dif::PushType::value, 0, value); }
  void push_string(VirtualRegister address) { push(dif::Opcode::pushtr, dif::PushType::string, 0, address); }
  void push_bytes(VirtualRegister address, VirtualRegister size) {
    push(dif::Opcode::pushtr, dif::PushType::bytes, size, address);
  }
  VirtualRegister call(unsigned subroutine);
  void empty_tuple() { add({.op = dif::Opcode::flushts}); }

  CodeLabel make_label() { return code_.labels++; }
  void place(CodeLabel label) { add({.is_label = true, .value = label}); }
  void branch(dif::Opcode op, CodeLabel label) { add({.op = op, .value = label}); }

  void jump(CodeLabel label) { add(CodeStep::jump(label)); }

  // Ends the code with `ret reg`.
  Code finish(VirtualRegister reg);

 private:
  void add(const CodeStep& step) { code_.steps.push_back(step); }
  void push(dif::Opcode op, dif::PushType type, VirtualRegister size, VirtualRegister value);

  static constexpr size_t kUsual = 16;  // steps

  Code code_;
  std::map<std::string, uint64_t> strings_;
};

}  // namespace dvm::compiler
