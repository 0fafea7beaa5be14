// Covered by tests/unit/vm/native_test.cpp.

#include <algorithm>

#include "dvm/dif/variable.h"
#include "dvm/vm/body.h"

namespace dvm::vm {
namespace {

bool is_field(unsigned id) {
  switch (static_cast<dif::BuiltIn>(id)) {
#define DVM_FIELD(name, member) case dif::BuiltIn::name:
#include "vm/variable/fields.def"
    return static_cast<dif::BuiltIn>(id) != dif::BuiltIn::id;  // which the ECB loop sets
    default:
      return false;
  }
}

// True if the instruction needs nothing but the firing and the integers of the DIFO.
bool is_plain(dif::Instruction in) {
  const dif::OpcodeInfo& about = info(in.opcode());
  if (const auto id = dif::built_in_of(in)) return is_field(*id);
  return !about.can_fault && !about.scope && about.tuple == dif::TupleUse::none && about.format != dif::Format::sets;
}

bool is_light(dif::Instruction in) {
  const dif::Opcode opcode = in.opcode();
  const bool is_of_variable = opcode == dif::Opcode::ldgs || opcode == dif::Opcode::stgs || opcode == dif::Opcode::ldts;
  return is_plain(in) || (is_of_variable && !dif::built_in_of(in));
}

}  // namespace

bool is_plain(const dif::Difo& difo) {
  return std::all_of(difo.text.begin(), difo.text.end(), [](dif::Instruction in) { return is_plain(in); });
}

bool is_light(const dif::Difo& difo) {
  return std::all_of(difo.text.begin(), difo.text.end(), [](dif::Instruction in) { return is_light(in); });
}

}  // namespace dvm::vm
