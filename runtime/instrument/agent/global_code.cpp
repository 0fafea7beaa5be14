// Tested by tests/unit/instrument/clause_code_test.cpp.

#include "runtime/instrument/agent/global_code.h"

#include <algorithm>

#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;

unsigned global_number(unsigned id) { return id - unsigned{dif::kFirstUserVariable}; }

}  // namespace

// Null: threads do not change it, or it has no room.
const dif::Variable* GlobalCode::kept(Instruction in) const {
  const dif::Variable* variable = dif::variable_of(difo_, in);
  if (variable == nullptr || !place_.keeps(*variable) || global_number(variable->id) >= inside::kMostGlobals) return nullptr;
  const bool is_integer = variable->kind == dif::VariableKind::scalar && variable->type.kind == dif::TypeKind::integer;
  return is_integer ? variable : nullptr;
}

bool GlobalCode::load(Instruction in, unsigned to) {
  if (const dif::Variable* variable = kept(in)) return load(*variable, to), true;
  const auto& known = place_.globals;
  const unsigned number = global_number(in.index());
  if (number >= inside::kMostGlobals || std::find(known.begin(), known.end(), in.index()) == known.end()) return false;
  access(kLoad, to, GlobalWord::of_dvm, number);
  return true;
}

// The code is then no gate, since dvm may have changed the variable when it looks.
void GlobalCode::load(const dif::Variable& variable, unsigned to) {
  made_.has_workspace = true;
  access(kLoad, to, GlobalWord::of_threads, global_number(variable.id));
  access(kAddTo, to, GlobalWord::of_dvm, global_number(variable.id));
  code_.widen(variable.type.size, variable.type.is_signed, to, to);
}

void GlobalCode::point_to(GlobalWord word, unsigned number) {
  made_.changes |= 1U << saved::rcx;
  made_.globals.push_back(static_cast<uint32_t>(code_.load_word(kRcx, static_cast<size_t>(word) + number * sizeof(uint64_t))));
}

void GlobalCode::access(unsigned opcode, unsigned reg, GlobalWord word, unsigned number) {
  point_to(word, number);
  code_.access(opcode, reg, kRcx, 0);
}

}  // namespace dvm::runtime
