#pragma once
// A DIFO in the making: instructions, labels that are resolved at the end, the tables without duplicates, and free registers.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "compiler/types/symbols.h"
#include "dvm/dif/difo.h"

namespace dvm::compiler {

class Emitter {
 public:
  using Label = unsigned;

  // The lowest free register; %r0 once there was none, and then failed().
  unsigned allocate();
  void free(unsigned reg);
  void claim(unsigned reg) { used_[reg] = true; }  // one that is free
  bool failed() const { return no_register_; }

  void log(dif::Opcode op, unsigned r1, unsigned r2, unsigned rd) { add(dif::Instruction::registers(op, r1, r2, rd)); }
  void unary(dif::Opcode op, unsigned r1, unsigned rd) { add(dif::Instruction::registers(op, r1, 0, rd)); }
  void compare(dif::Opcode op, unsigned r1, unsigned r2) { add(dif::Instruction::registers(op, r1, r2, 0)); }
  void test(unsigned reg) { add(dif::Instruction::registers(dif::Opcode::tst, reg, 0, 0)); }
  void indexed(dif::Opcode op, unsigned index, unsigned rd) { add(dif::Instruction::indexed(op, index, rd)); }
  void plain(dif::Opcode op) { add(dif::Instruction::registers(op, 0, 0, 0)); }
  void push(dif::Opcode op, dif::PushType type, unsigned size_reg, unsigned reg) {
    add(dif::Instruction::registers(op, static_cast<unsigned>(type), size_reg, reg));
  }
  void set_integer(uint64_t value, unsigned rd);
  void set_string(const std::string& value, unsigned rd);
  // ld.. or st.. of a user variable, which is noted in the variable table.
  void variable(dif::Opcode op, const Symbol& symbol, unsigned reg, bool writes);

  Label make_label();
  void place(Label label) { labels_[label] = size(); }
  void branch(dif::Opcode op, Label label);

  size_t size() const { return difo_.text.size(); }
  // Ends the object with `ret reg`.
  dif::Difo finish(unsigned reg, dif::DataType result);

 private:
  void add(dif::Instruction i) { difo_.text.push_back(i); }

  dif::Difo difo_;
  std::array<bool, dif::kRegisters> used_{true};
  bool no_register_ = false;
  std::map<uint64_t, unsigned> integers_;
  std::map<std::string, unsigned> strings_;
  std::vector<size_t> labels_;
  std::vector<std::pair<size_t, Label>> branches_;
};

}  // namespace dvm::compiler
