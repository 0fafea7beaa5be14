// The rows that a profile prices. Covered by tests/unit/vm/path_cost_test.cpp.

#include "dvm/vm/profile.h"

#include <algorithm>
#include <array>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/operands.h"
#include "vm/variable/getter.h"

namespace dvm::vm {
namespace {

using dif::Opcode;
using Table = DifRow::Table;

// Not what the verifier rejects (xlate, xlarg), what always faults (ldta), nor what is priced by what it reads or calls alone.
bool has_price(Opcode opcode) {
  constexpr std::array kWithout = {Opcode::xlate, Opcode::xlarg, Opcode::ldta, Opcode::ldga, Opcode::call};
  return std::find(kWithout.begin(), kWithout.end(), opcode) == kWithout.end();
}

}  // namespace

std::string DifRow::name() const {
  if (table == Table::variable) return "variable/" + std::string(dif::kBuiltIns[at].name);
  if (table == Table::subroutine) return "subroutine/" + std::string(dif::kSubroutines[at].name);
  const auto opcode = static_cast<Opcode>(at);
  std::string text = "opcode/" + std::string(dif::info(opcode).mnemonic);
  return table == Table::variant ? text + std::string(variant_suffix(opcode)) : text;
}

std::string_view variant_suffix(Opcode opcode) {
  if (opcode == Opcode::ret) return "_alone";
  return stored_scope(opcode) ? "_ref" : "";
}

const dif::Variable* stored_variable(const dif::Difo& difo, dif::Instruction instruction) {
  const auto scope = stored_scope(instruction.opcode());
  if (!scope) return nullptr;
  for (const dif::Variable& variable : difo.variables)
    if (variable.scope == *scope && variable.id == instruction.index()) return &variable;
  return nullptr;
}

bool takes_key(Opcode opcode) {
  return opcode == Opcode::ldgaa || opcode == Opcode::ldtaa || opcode == Opcode::stgaa || opcode == Opcode::sttaa;
}

bool is_getter_alone(const dif::Difo& difo) {
  return difo.text.size() == 2 && difo.text[0].opcode() == Opcode::ldgs &&
         built_in_position(difo.text[0].index()) < dif::kBuiltIns.size() && getter_of(difo.text[0].index()) != nullptr &&
         difo.text[1].opcode() == Opcode::ret && difo.text[1].rd() == difo.text[0].rd() && difo.text[0].rd() != 0;
}

DifRow row_of(const dif::Difo& difo, dif::Instruction instruction) {
  const Opcode opcode = instruction.opcode();
  const dif::Variable* stored = stored_variable(difo, instruction);
  if ((stored && stored->type.by_ref()) || (opcode == Opcode::ret && is_getter_alone(difo)))
    return {Table::variant, instruction.number()};
  if (opcode == Opcode::call) return {Table::subroutine, instruction.index()};
  const bool indexed = opcode == Opcode::ldga;
  if (opcode == Opcode::ldgs || indexed) {
    const unsigned at = built_in_position(indexed ? instruction.r1() : instruction.index());
    if (at < dif::kBuiltIns.size()) return {Table::variable, at};
  }
  return {Table::opcode, instruction.number()};
}

std::optional<dif::Scope> stored_scope(Opcode opcode) {
  switch (opcode) {
    case Opcode::stgs:
    case Opcode::stgaa:
      return dif::Scope::global;
    case Opcode::stts:
    case Opcode::sttaa:
      return dif::Scope::thread;
    case Opcode::stls:
      return dif::Scope::clause;
    default:
      return std::nullopt;
  }
}

std::vector<std::string> dif_rows() {
  std::vector<std::string> rows;
  const auto add = [&rows](Table table, size_t at) { rows.push_back(DifRow{table, static_cast<unsigned>(at)}.name()); };
  for (const dif::OpcodeInfo& opcode : dif::kOpcodes) {
    if (!has_price(opcode.opcode)) continue;
    add(Table::opcode, static_cast<size_t>(opcode.opcode));
    if (!variant_suffix(opcode.opcode).empty()) add(Table::variant, static_cast<size_t>(opcode.opcode));
  }
  for (size_t i = 0; i < dif::kBuiltIns.size(); i++)
    if (dif::kBuiltIns[i].family != dif::VariableFamily::none) add(Table::variable, i);
  for (size_t i = 0; i < dif::kSubroutineCount; i++)
    if (dif::kSubroutines[i].unsupported.empty()) add(Table::subroutine, i);
  for (size_t i = 1; i < kPlaces.size(); i++) rows.push_back(place_row(static_cast<Place>(i)));
  rows.insert(rows.end(), {kValueKeyRow, kReferenceKeyRow});
  return rows;
}

}  // namespace dvm::vm
