// Prints docs/dif.md, the manual of DIF, from the tables in vm/dif. After a change to a table: `dif_manual > docs/dif.md`; the
// test dif_manual_is_current compares.

#include <fmt/format.h>

#include <string>

#include "dvm/dif/action.h"
#include "dvm/dif/fault.h"
#include "dvm/dif/option.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "vm/dif/format.h"

namespace dvm::dif {

namespace {

// A bar would end a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

constexpr std::string_view kCosts[] = {"none", "flat", "bytes", "found", "stored", "called"};
constexpr std::string_view kIntroduction = R"(# DIF

Made from the tables in `vm/dif` by `dif_manual`; change a row there, not a line here.

An instruction is a word of 32 bits, the opcode in its top byte. There are eight registers of 64 bits; `%r0` reads as zero and is never
written. Constants lie in the integer and string tables of the DIFO and are named by index. Branches go forward only, so each
instruction runs at most once. Keys and arguments are pushed on a tuple stack of {} entries. Addresses are checked when they are used:
an access outside of scratch, variables, tables and captured memory is a fault, never a crash.
)";

constexpr std::string_view kFields[] = {"r1", "r2", "rd", "index", "label"};

// "op [%r1], %rd": each operand with the name of its field, where a listing has a number.
std::string written(const FormatInfo& row) {
  std::string out = "op";
  for (unsigned i = 0; i < row.count; i++) {
    const std::string_view before = row.operands[i].text().before;
    const bool is_register = before.ends_with("%r");
    out += fmt::format("{}{}{}{}", i == 0 ? " " : ", ", is_register ? before.substr(0, before.size() - 1) : before,
                       kFields[static_cast<size_t>(row.operands[i].field)], row.operands[i].text().after);
  }
  return out;
}

void print_formats() {
  fmt::print(
      "\n## Formats\n\nFrom the top, a word is the opcode, r1, r2 and rd of 8 bits each; index is r1 and r2 together, label all "
      "three.\nFields that a format does not name are 0.\n\n| format | written |\n|---|---|\n");
  for (const FormatInfo& row : kFormats) fmt::print("| {} | `{}` |\n", row.name, written(row));
}

void print_opcodes() {
  fmt::print(
      "\n## Opcodes\n\nA use is priced by its cost class:\n\n"
      "- flat: one price;\n"
      "- bytes: one price, and one per byte;\n"
      "- found: one price, and one more if the variable that is looked up exists;\n"
      "- stored: one price, and one per byte of a string or structure, or one more if an integer makes the variable appear or "
      "vanish;\n"
      "- called: the price of the subroutine or built-in variable instead;\n"
      "- none: no price, since it never runs.\n\n");
  fmt::print("| number | opcode | format | cost | meaning |\n|---|---|---|---|---|\n");
  for (const OpcodeInfo& row : kOpcodes)
    fmt::print("| {} | `{}` | {} | {} | {} |\n", static_cast<unsigned>(row.opcode), row.mnemonic, info(row.format).name,
               kCosts[static_cast<size_t>(row.cost)], cell(row.text));
}

// Meaning, or why there is none.
std::string with_reason(std::string_view text, std::string_view unsupported) {
  return cell(text) + (unsupported.empty() ? "" : fmt::format(" (refused: {})", cell(unsupported)));
}

void print_subroutines() {
  fmt::print("\n## Subroutines\n\nA `?` marks an argument that may be left out.\n\n");
  fmt::print("| number | subroutine | arguments | result | meaning |\n|---|---|---|---|---|\n");
  for (const SubroutineInfo& row : kSubroutines)
    fmt::print("| {} | `{}` | {} | {} | {}{} |\n", static_cast<unsigned>(row.id), row.name, row.arguments.text(), row.result,
               with_reason(row.text, row.unsupported), row.destructive ? "; destructive" : "");
}

void print_variables() {
  fmt::print("\n## Variables\n\nA script's own variables have ids from {:#x} up.\n\n", kFirstUserVariable);
  fmt::print("| id | variable | type | meaning |\n|---|---|---|---|\n");
  for (const BuiltInInfo& row : kBuiltIns)
    fmt::print("| {:#06x} | `{}{}` | {} | {} |\n", static_cast<unsigned>(row.id), row.name,
               row.kind == BuiltInKind::array ? "[]" : "", row.type,
               with_reason(row.text, row.family == VariableFamily::none ? "there is no such thing here" : ""));
}

void print_actions() {
  fmt::print("\n## Actions\n\n| number | action | arguments | meaning |\n|---|---|---|---|\n");
  for (const ActionInfo& row : kActions)
    fmt::print("| {:#06x} | `{}` | {} | {}{} |\n", static_cast<unsigned>(row.id), row.name, row.arguments.text(),
               with_reason(row.text, row.unsupported), row.destructive ? "; destructive" : "");
  fmt::print("\n## Aggregating functions\n\n| number | function | arguments | meaning |\n|---|---|---|---|\n");
  for (const AggregationInfo& row : kAggregations)
    fmt::print("| {:#06x} | `{}` | {} | {} |\n", static_cast<unsigned>(row.id), row.name, row.arguments.text(), cell(row.text));
}

void print_faults() {
  fmt::print("\n## Faults\n\nA fault ends the clause and fires the ERROR probe, whose arg4 is its number.\n\n");
  fmt::print("| number | fault | message | meaning |\n|---|---|---|---|\n");
  for (const FaultInfo& row : kFaults)
    fmt::print("| {} | {} | {} | {} |\n", static_cast<unsigned>(row.id), row.name, row.message, cell(row.text));
}

void print_options() {
  fmt::print("\n## Options\n\nRates are shown in nanoseconds.\n\n| option | kind | standard | meaning |\n|---|---|---|---|\n");
  for (const OptionInfo& row : kOptions)
    fmt::print("| `{}` | {} | {} | {} |\n", row.name, info(row.kind).name, row.standard, with_reason(row.text, row.unsupported));
}

}  // namespace

}  // namespace dvm::dif

int main() {
  using namespace dvm::dif;
  fmt::print(kIntroduction, kTupleDepth);
  print_formats();
  print_opcodes();
  print_subroutines();
  print_variables();
  print_actions();
  print_faults();
  print_options();
}
