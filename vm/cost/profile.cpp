// The rows that a profile prices. Covered by tests/unit/vm/path_cost_test.cpp.

#include "dvm/vm/profile.h"

#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"
#include "dvm/vm/operands.h"
#include "vm/variable/getter.h"

namespace dvm::vm {
namespace {

using dif::Format;
using dif::Opcode;
using Table = DifRow::Table;

// ldgs is priced too where it loads a variable of the script.
bool has_price(const dif::OpcodeInfo& opcode) {
  return opcode.cost != dif::CostClass::none && (opcode.cost != dif::CostClass::called || opcode.format == Format::ldv);
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
  const Format format = info(opcode).format;
  return format == Format::ret ? "_alone" : format == Format::stv ? "_ref" : "";
}

bool is_load_alone(const dif::Difo& difo) {
  if (difo.text.size() != 2) return false;
  const dif::Instruction load = difo.text[0], end = difo.text[1];
  if (!has_format(load, Format::ldv) || !is_return(end) || end.rd() != load.rd() || load.rd() == 0) return false;
  if (const auto id = built_in_of(load)) return getter_of(*id) != nullptr;
  return !takes_key(load.opcode()) && info(load.opcode()).scope != dif::Scope::thread;
}

DifRow row_of(const dif::Difo& difo, dif::Instruction instruction) {
  const dif::Variable* stored = stored_variable(difo, instruction);
  if ((stored && stored->type.by_ref()) || (is_return(instruction) && is_load_alone(difo)))
    return {Table::variant, instruction.number()};
  if (has_format(instruction, Format::call)) return {Table::subroutine, instruction.index()};
  if (const auto id = built_in_of(instruction))
    if (const unsigned at = built_in_position(*id); at < dif::kBuiltIns.size()) return {Table::variable, at};
  return {Table::opcode, instruction.number()};
}

std::vector<std::string> dif_rows() {
  std::vector<std::string> rows;
  const auto add = [&rows](Table table, size_t at) { rows.push_back(DifRow{table, static_cast<unsigned>(at)}.name()); };
  for (const dif::OpcodeInfo& opcode : dif::kOpcodes) {
    if (!has_price(opcode)) continue;
    add(Table::opcode, static_cast<size_t>(opcode.opcode));
    if (!variant_suffix(opcode.opcode).empty()) add(Table::variant, static_cast<size_t>(opcode.opcode));
  }
  for (size_t i = 0; i < dif::kBuiltIns.size(); i++)
    if (dif::kBuiltIns[i].family != dif::VariableFamily::none) add(Table::variable, i);
  for (size_t i = 0; i < dif::kSubroutineCount; i++)
    if (dif::kSubroutines[i].unsupported.empty()) add(Table::subroutine, i);
  for (size_t i = 1; i < kPlaces.size(); i++) rows.push_back(place_row(static_cast<StringPlace>(i)));
  rows.insert(rows.end(), {kValueKeyRow, kReferenceKeyRow});
  return rows;
}

}  // namespace dvm::vm
