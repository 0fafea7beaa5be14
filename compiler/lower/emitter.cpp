// Steps with their operands in place. Tests: tests/golden/lower.
#include "compiler/lower/emitter.h"

#include "dvm/dif/variable.h"

namespace dvm::compiler {

using dif::Opcode;

VirtualRegister Emitter::log(Opcode op, VirtualRegister left, VirtualRegister right) {
  const VirtualRegister to = fresh();
  add({.op = op, .reads = {left, right}, .writes = to});
  return to;
}

VirtualRegister Emitter::unary(Opcode op, VirtualRegister from) {
  const VirtualRegister to = fresh();
  add({.op = op, .reads = {from}, .writes = to});
  return to;
}

VirtualRegister Emitter::integer(uint64_t value) {
  if (value == 0) return 0;
  const VirtualRegister to = fresh();
  set_integer(value, to);
  return to;
}

VirtualRegister Emitter::string(const std::string& value) {
  const VirtualRegister to = fresh();
  const auto [it, is_new] = strings_.try_emplace(value, code_.strings.size());
  if (is_new) code_.strings.push_back(value);
  add({.op = Opcode::sets, .writes = to, .value = it->second});
  return to;
}

VirtualRegister Emitter::load(Opcode op, const Symbol& symbol) {
  const VirtualRegister to = fresh();
  add({.op = op, .writes = to, .value = symbol.id, .symbol = &symbol});
  return to;
}

VirtualRegister Emitter::load_element(const Symbol& built_in, VirtualRegister index) {
  const VirtualRegister to = fresh();
  add({.op = Opcode::ldga, .reads = {index}, .writes = to, .value = built_in.id, .symbol = &built_in});
  return to;
}

void Emitter::refuse_index(VirtualRegister index) {
  add({.op = Opcode::ldga, .reads = {index}, .writes = fresh(), .value = static_cast<uint64_t>(dif::BuiltIn::out_of_bounds)});
}

void Emitter::save(Opcode op, const Symbol& symbol, VirtualRegister value) {
  add({.op = op, .reads = {value}, .value = symbol.id, .symbol = &symbol});
}

void Emitter::push(Opcode op, dif::PushType type, VirtualRegister size, VirtualRegister value) {
  add({.op = op, .reads = {size, value}, .value = static_cast<uint64_t>(type)});
}

VirtualRegister Emitter::call(unsigned subroutine) {
  const VirtualRegister to = fresh();
  add({.op = Opcode::call, .writes = to, .value = subroutine});
  return to;
}

Code Emitter::finish(VirtualRegister reg) {
  add({.op = Opcode::ret, .reads = {reg}});
  return std::move(code_);
}

}  // namespace dvm::compiler
