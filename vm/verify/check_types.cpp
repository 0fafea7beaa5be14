// Variables and subroutines: what an instruction names exists and is of the kind that it works on.
// Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include <algorithm>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "vm/verify/report.h"

namespace dvm::vm {

namespace {

using dif::Opcode;
using dif::Scope;
using dif::VariableKind;

constexpr uint32_t kMaxValueSize = 1 << 20;  // bytes of one by-reference variable

struct Access {
  Opcode opcode;
  Scope scope;
  VariableKind kind;
};

constexpr Access kAccesses[] = {
    {Opcode::ldgs, Scope::global, VariableKind::scalar}, {Opcode::stgs, Scope::global, VariableKind::scalar},
    {Opcode::ldts, Scope::thread, VariableKind::scalar}, {Opcode::stts, Scope::thread, VariableKind::scalar},
    {Opcode::ldls, Scope::clause, VariableKind::scalar}, {Opcode::stls, Scope::clause, VariableKind::scalar},
    {Opcode::ldgaa, Scope::global, VariableKind::array}, {Opcode::stgaa, Scope::global, VariableKind::array},
    {Opcode::ldtaa, Scope::thread, VariableKind::array}, {Opcode::sttaa, Scope::thread, VariableKind::array},
};

constexpr const char* kScopeNames[] = {"global", "thread-local", "clause-local"};
constexpr const char* kKindNames[] = {"scalar", "associative array"};

void check_built_in(unsigned pc, unsigned id, dif::BuiltInKind kind, Report& report) {
  const dif::BuiltInInfo* row = dif::find_built_in(id);
  if (!row) return report.add(pc, fmt::format("no built-in variable {:#x}", id));
  if (row->family == dif::VariableFamily::none) report.add(pc, fmt::format("dvm does not have the variable {}", row->name));
  if (row->kind != kind)
    report.add(pc, fmt::format("{} is {}an array", row->name, row->kind == dif::BuiltInKind::array ? "" : "not "));
}

// The variable table as a sorted list of what tells two variables apart, so that hostile objects cost no more time than others.
class Declared {
 public:
  explicit Declared(const dif::Difo& difo) {
    for (const dif::Variable& v : difo.variables) keys_.push_back(key(v.scope, v.kind, v.id));
    std::sort(keys_.begin(), keys_.end());
  }
  bool has(const Access& access, unsigned id) const {
    return std::binary_search(keys_.begin(), keys_.end(), key(access.scope, access.kind, id));
  }

 private:
  static uint32_t key(Scope scope, VariableKind kind, unsigned id) {
    return static_cast<uint32_t>(scope) << 24 | static_cast<uint32_t>(kind) << 16 | id;
  }
  std::vector<uint32_t> keys_;
};

void check_variable(unsigned pc, const Declared& declared, const Access& access, unsigned id, Report& report) {
  if (id < dif::kFirstUserVariable) {
    if (access.opcode == Opcode::ldgs) return check_built_in(pc, id, dif::BuiltInKind::scalar, report);
    return report.add(pc, fmt::format("variable {:#x} cannot be accessed so", id));
  }
  if (declared.has(access, id)) return;
  report.add(pc, fmt::format("no {} {} with id {:#x} in the variable table", kScopeNames[static_cast<int>(access.scope)],
                             kKindNames[static_cast<int>(access.kind)], id));
}

void check_call(unsigned pc, unsigned number, Report& report) {
  if (number >= dif::kSubroutineCount) return report.add(pc, fmt::format("no subroutine {}", number));
  const dif::SubroutineInfo& row = dif::kSubroutines[number];
  if (!row.unsupported.empty()) report.add(pc, fmt::format("subroutine {}: {}", row.name, row.unsupported));
}

void check_table(const dif::Difo& difo, Report& report) {
  for (const dif::Variable& variable : difo.variables)
    if (variable.type.kind == dif::TypeKind::bytes && (variable.type.size == 0 || variable.type.size > kMaxValueSize))
      report.add(0, fmt::format("variable {} has {} bytes", variable.name, variable.type.size));
}

}  // namespace

void check_types(const dif::Difo& difo, Report& report) {
  check_table(difo, report);
  const Declared declared(difo);
  for (unsigned pc = 0; pc < difo.text.size(); pc++) {
    const dif::Instruction in = difo.text[pc];
    for (const Access& access : kAccesses)
      if (access.opcode == in.opcode()) check_variable(pc, declared, access, in.index(), report);
    if (in.opcode() == Opcode::ldga) check_built_in(pc, in.r1(), dif::BuiltInKind::array, report);
    if (in.opcode() == Opcode::call) check_call(pc, in.index(), report);
  }
}

}  // namespace dvm::vm
