// Steps with their operands in place. Tests: tests/golden/lower.
#include "compiler/lower/emitter.h"

#include "dvm/dif/variable.h"

namespace dvm::compiler {

using dif::Opcode;

Register Emitter::log(Opcode op, Register left, Register right) {
  const Register to = fresh();
  add({.op = op, .reads = {left, right}, .writes = to});
  return to;
}

Register Emitter::unary(Opcode op, Register from) {
  const Register to = fresh();
  add({.op = op, .reads = {from}, .writes = to});
  return to;
}

Register Emitter::integer(uint64_t value) {
  if (value == 0) return 0;
  const Register to = fresh();
  set_integer(value, to);
  return to;
}

Register Emitter::string(const std::string& value) {
  const Register to = fresh();
  const auto [it, is_new] = strings_.try_emplace(value, code_.strings.size());
  if (is_new) code_.strings.push_back(value);
  add({.op = Opcode::sets, .writes = to, .value = it->second});
  return to;
}

Register Emitter::load(Opcode op, const Symbol& symbol) {
  const Register to = fresh();
  add({.op = op, .writes = to, .value = symbol.id, .symbol = &symbol});
  return to;
}

Register Emitter::load_element(const Symbol& built_in, Register index) {
  const Register to = fresh();
  add({.op = Opcode::ldga, .reads = {index}, .writes = to, .value = built_in.id, .symbol = &built_in});
  return to;
}

void Emitter::refuse_index(Register index) {
  add({.op = Opcode::ldga, .reads = {index}, .writes = fresh(), .value = static_cast<uint64_t>(dif::BuiltIn::out_of_bounds)});
}

void Emitter::save(Opcode op, const Symbol& symbol, Register value) {
  add({.op = op, .reads = {value}, .value = symbol.id, .symbol = &symbol});
}

void Emitter::push(Opcode op, dif::PushType type, Register size, Register value) {
  add({.op = op, .reads = {size, value}, .value = static_cast<uint64_t>(type)});
}

Register Emitter::call(unsigned subroutine) {
  const Register to = fresh();
  add({.op = Opcode::call, .writes = to, .value = subroutine});
  return to;
}

Code Emitter::finish(Register reg) {
  add({.op = Opcode::ret, .reads = {reg}});
  return std::move(code_);
}

}  // namespace dvm::compiler
