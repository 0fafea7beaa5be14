// Tables, labels and registers of one DIFO. Tests: tests/golden/lower.
#include "compiler/lower/emitter.h"

namespace dvm::compiler {

unsigned Emitter::allocate() {
  for (unsigned r = 1; r < dif::kRegisters; r++) {
    if (used_[r]) continue;
    used_[r] = true;
    return r;
  }
  no_register_ = true;
  return 0;
}

void Emitter::free(unsigned reg) {
  if (reg != 0) used_[reg] = false;
}

void Emitter::set_integer(uint64_t value, unsigned rd) {
  const auto [it, is_new] = integers_.try_emplace(value, static_cast<unsigned>(difo_.integers.size()));
  if (is_new) difo_.integers.push_back(value);
  indexed(dif::Opcode::setx, it->second, rd);
}

void Emitter::set_string(const std::string& value, unsigned rd) {
  const auto [it, is_new] = strings_.try_emplace(value, static_cast<unsigned>(difo_.strings.size()));
  if (is_new) difo_.strings.append(value).push_back('\0');
  indexed(dif::Opcode::sets, it->second, rd);
}

void Emitter::variable(dif::Opcode op, const Symbol& symbol, unsigned reg, bool writes) {
  indexed(op, symbol.id, reg);
  if (symbol.kind != SymbolKind::variable) return;
  for (dif::Variable& v : difo_.variables) {
    if (v.id != symbol.id || v.scope != symbol.scope) continue;
    (writes ? v.is_written : v.is_read) = true;
    return;
  }
  dif::Variable v = describe(symbol);
  (writes ? v.is_written : v.is_read) = true;
  difo_.variables.push_back(std::move(v));
}

Emitter::Label Emitter::make_label() {
  labels_.push_back(0);
  return static_cast<Label>(labels_.size() - 1);
}

void Emitter::branch(dif::Opcode op, Label label) {
  branches_.emplace_back(size(), label);
  add(dif::Instruction::branch(op, 0));
}

dif::Difo Emitter::finish(unsigned reg, dif::DataType result) {
  indexed(dif::Opcode::ret, 0, reg);
  for (const auto& [at, label] : branches_)
    difo_.text[at] = dif::Instruction::branch(difo_.text[at].opcode(), static_cast<unsigned>(labels_[label]));
  difo_.result = std::move(result);
  return std::move(difo_);
}

}  // namespace dvm::compiler
