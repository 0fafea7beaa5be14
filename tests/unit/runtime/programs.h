#pragma once
// Programs built by hand, for tests and benchmarks of what runs them.

#include <string>
#include <utility>
#include <vector>

#include "dvm/dif/program.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"

namespace dvm::runtime::test {

inline const dif::DataType kInt{dif::TypeKind::integer, true, false, 4, "int"};
inline const dif::DataType kLong{dif::TypeKind::integer, true, false, 8, "int64_t"};
inline const dif::DataType kString{dif::TypeKind::string, false, false, 0, "string"};

// A DIFO that is one constant.
inline dif::Difo constant(int64_t value, const dif::DataType& type = kInt) {
  dif::Difo difo;
  difo.integers = {static_cast<uint64_t>(value)};
  difo.text = {dif::Instruction::indexed(dif::Opcode::setx, 0, 1), dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = type;
  return difo;
}

inline dif::Difo text(const std::string& value) {
  dif::Difo difo;
  difo.strings = value + '\0';
  difo.text = {dif::Instruction::indexed(dif::Opcode::sets, 0, 1), dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = kString;
  return difo;
}

inline dif::Difo built_in(dif::BuiltIn variable, const dif::DataType& type = kLong) {
  dif::Difo difo;
  difo.text = {dif::Instruction::indexed(dif::Opcode::ldgs, static_cast<unsigned>(variable), 1),
               dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = type;
  return difo;
}

// 1 / 0; the fault is at instruction 1.
inline dif::Difo divide_by_zero() {
  dif::Difo difo = constant(1);
  difo.text = {dif::Instruction::indexed(dif::Opcode::setx, 0, 1), dif::Instruction::registers(dif::Opcode::sdiv, 1, 0, 1),
               dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  return difo;
}

// copyinstr(address)
inline dif::Difo copyinstr(uint64_t address) {
  dif::Difo difo = constant(static_cast<int64_t>(address), kLong);
  difo.text = {dif::Instruction::indexed(dif::Opcode::setx, 0, 1),
               dif::Instruction::registers(dif::Opcode::pushtv, static_cast<unsigned>(dif::PushType::value), 0, 1),
               dif::Instruction::indexed(dif::Opcode::call, static_cast<unsigned>(dif::Subroutine::copyinstr), 1),
               dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = kString;
  return difo;
}

inline dif::ActDesc action(dif::Action kind, std::vector<dif::Difo> args = {}) {
  dif::ActDesc desc;
  desc.kind = kind;
  for (dif::Difo& difo : args) desc.args.push_back({std::move(difo)});
  return desc;
}
inline dif::ActDesc exit_with(int status) { return action(dif::Action::exit, {constant(status)}); }
inline dif::ActDesc print(const std::string& format, std::vector<dif::Difo> args = {}) {
  dif::ActDesc desc = action(dif::Action::printf, std::move(args));
  desc.format = format;
  desc.has_format = true;
  return desc;
}

inline dif::ActDesc command(const std::string& format, std::vector<dif::Difo> args = {}) {
  dif::ActDesc desc = print(format, std::move(args));
  desc.kind = dif::Action::system;
  return desc;
}

// An aggregating action; `keys` of its arguments are keys.
inline dif::ActDesc aggregate(dif::Action function, uint32_t id, std::vector<dif::Difo> args, unsigned keys) {
  dif::ActDesc desc = action(function, std::move(args));
  desc.aggregations = {id};
  desc.key_count = keys;
  return desc;
}
// printa, clear, ...
inline dif::ActDesc on_aggregations(dif::Action kind, std::vector<uint32_t> ids, std::vector<dif::Difo> args = {}) {
  dif::ActDesc desc = action(kind, std::move(args));
  desc.aggregations = std::move(ids);
  return desc;
}

inline dif::EcbDesc clause(const std::string& name, std::vector<dif::ActDesc> actions) {
  dif::EcbDesc desc;
  desc.probes = {{"", "", "", name}};
  desc.actions = std::move(actions);
  return desc;
}

inline dif::AggregationDesc declare(uint32_t id, dif::Action function, std::vector<dif::DataType> keys = {},
                                    std::vector<int64_t> parameters = {}) {
  return {id, "", function, std::move(keys), {}, std::move(parameters), kLong};
}

}  // namespace dvm::runtime::test
