// Variables and subroutines: what an instruction names exists and is of the kind that it works on.
// Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include <algorithm>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "vm/verify/report.h"

namespace dvm::vm {

namespace {

using dif::Format;
using dif::Scope;
using dif::VariableKind;

constexpr uint32_t kMaxValueSize = 16 << 20;  // bytes of one by-reference variable

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
class DeclaredVariables {
 public:
  explicit DeclaredVariables(const dif::Difo& difo) {
    for (const dif::Variable& v : difo.variables) keys_.push_back(key(v.scope, v.kind, v.id));
    std::sort(keys_.begin(), keys_.end());
  }
  bool has(Scope scope, VariableKind kind, unsigned id) const {
    return std::binary_search(keys_.begin(), keys_.end(), key(scope, kind, id));
  }

 private:
  static uint32_t key(Scope scope, VariableKind kind, unsigned id) {
    return static_cast<uint32_t>(scope) << 24 | static_cast<uint32_t>(kind) << 16 | id;
  }
  std::vector<uint32_t> keys_;
};

// A variable of the script, or one that an opcode cannot access.
void check_variable(unsigned pc, const DeclaredVariables& declared, dif::Instruction in, Report& report) {
  if (in.index() < dif::kFirstUserVariable)
    return report.add(pc, fmt::format("variable {:#x} cannot be accessed so", in.index()));
  const dif::OpcodeInfo& row = info(in.opcode());
  const VariableKind kind = row.tuple == dif::TupleUse::key ? VariableKind::array : VariableKind::scalar;
  if (declared.has(*row.scope, kind, in.index())) return;
  report.add(pc, fmt::format("no {} {} with id {:#x} in the variable table", kScopeNames[static_cast<int>(*row.scope)],
                             kKindNames[static_cast<int>(kind)], in.index()));
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
  const DeclaredVariables declared(difo);
  for (unsigned pc = 0; pc < difo.text.size(); pc++) {
    const dif::Instruction in = difo.text[pc];
    if (const auto id = built_in_of(in))
      check_built_in(pc, *id, has_format(in, Format::lda) ? dif::BuiltInKind::array : dif::BuiltInKind::scalar, report);
    else if (has_format(in, Format::ldv) || has_format(in, Format::stv))
      check_variable(pc, declared, in, report);
    if (has_format(in, Format::call)) check_call(pc, in.index(), report);
  }
}

}  // namespace dvm::vm
