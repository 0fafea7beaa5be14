// A DIFO as DTrace's -S prints it, without the address of the object, so that listings can be compared. Further
// properties of a type follow it as a comment ("! signed, int"). Integers, strings and names stand beside the instructions that
// use them; the assembler (assemble.cpp) reads them back from there. Covered by tests/unit/vm/text_test.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/text.h"
#include "dvm/dif/variable.h"
#include "vm/dif/format.h"

namespace dvm::dif {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte >= 0x7f)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    else
      out += c;
  }
  return out + '"';
}

std::string type_text(const DataType& type) {
  std::string out;
  switch (type.kind) {
    case TypeKind::none:
      return "D type (void) (size 0)";
    case TypeKind::integer:
      out = fmt::format("D type (integer) (size {})", type.size);
      break;
    case TypeKind::string:
      out = "string (unknown) by ref (size 0)";
      break;
    case TypeKind::bytes:
      out = fmt::format("D type (struct) by ref (size {})", type.size);
      break;
  }
  const bool is_plain = (type.name.empty() || type.name == "string") && !type.is_signed && !type.is_char;
  if (type.kind == TypeKind::string && is_plain) return out;
  if (type.kind == TypeKind::integer)
    out += type.is_signed ? "\t! signed" : "\t! unsigned";
  else
    out += type.is_signed ? "\t! signed" : "\t!";
  if (type.is_char) out += " char";
  if (!type.name.empty()) fmt::format_to(std::back_inserter(out), ", {}", type.name);
  return out;
}

// What C calls a type, by the name that D has for it.
std::string_view class_of(const DataType& type) {
  const std::string_view name = type.name;
  if (name.ends_with("*") || name.find("(*)") != std::string_view::npos) return "pointer";
  if (name.ends_with("]")) return "array";
  if (name.starts_with("enum ")) return "enum";
  if (name.starts_with("union ")) return "union";
  return type.kind == TypeKind::bytes ? "struct" : "integer";
}

// As dtrace prints a type: what it is for the machine, what it is for C, its size. void is an integer of no size.
std::string dtrace_type_text(const DataType& type, uint64_t strsize) {
  if (type.kind == TypeKind::string) return fmt::format("string (unknown) by ref (size {})", strsize);
  return fmt::format("D type ({}){} (size {})", class_of(type), type.by_ref() ? " by ref" : "", type.size);
}

class Listing {
 public:
  // With a size of strings, the listing is dtrace's.
  Listing(const Difo& difo, std::optional<uint64_t> strsize) : difo_(difo), strsize_(strsize), out_(text_) {
    if (strsize) add_built_ins();
    variables_.insert(variables_.end(), difo.variables.begin(), difo.variables.end());
  }

  std::string print(const std::string& name) {
    fmt::format_to(out_, "{} returns {}\n", name, type(difo_.result));
    fmt::format_to(out_, "{:<3} {:<8}    {}\n", "OFF", "OPCODE", "INSTRUCTION");
    for (size_t pc = 0; pc < difo_.text.size(); pc++) {
      fmt::format_to(out_, "{:02}: {:08x}    ", pc, difo_.text[pc].word());
      instruction(difo_.text[pc]);
      text_ += '\n';
    }
    if (!variables_.empty()) variables();
    return std::move(text_);
  }

 private:
  std::string type(const DataType& t) const { return strsize_ ? dtrace_type_text(t, *strsize_) : type_text(t); }
  void add_built_ins();
  void instruction(Instruction in);
  std::string comment(Opcode op, OperandKind kind, unsigned number) const;
  std::string_view variable_name(Opcode op, unsigned id) const;
  void variables();

  const Difo& difo_;
  std::optional<uint64_t> strsize_;
  std::vector<Variable> variables_;
  std::string text_;
  Out out_;
};

// The size that a type of variables.def has.
DataType type_of(const BuiltInInfo& row) {
  if (row.type == "string") return {TypeKind::string, false, false, 0, "string"};
  return {TypeKind::integer, false, false, row.type.ends_with("32") ? 4u : 8u, row.type == "ptr" ? "void *" : ""};
}

// dtrace's table has every variable that the text names.
void Listing::add_built_ins() {
  for (const Instruction in : difo_.text) {
    const std::optional<unsigned> id = built_in_of(in);
    const BuiltInInfo* row = id ? find_built_in(*id) : nullptr;
    const bool is_there = std::any_of(variables_.begin(), variables_.end(), [id](const Variable& v) { return v.id == id; });
    if (!row || is_there) continue;
    const VariableKind kind = row->kind == BuiltInKind::array ? VariableKind::array : VariableKind::scalar;
    variables_.push_back({std::string(row->name), static_cast<uint16_t>(*id), Scope::global, kind, true, false, type_of(*row)});
  }
}

void Listing::instruction(Instruction in) {
  if (!is_opcode(in.number())) {
    text_ += strsize_ ? "(illegal opcode)" : "unknown";
    return;
  }
  const Opcode op = in.opcode();
  const auto operands = operands_of(op);
  fmt::format_to(out_, "{:<{}}", info(op).mnemonic, operands.empty() ? 0 : 4);
  std::string note;
  for (size_t i = 0; i < operands.size(); i++) {
    const unsigned number = field_of(in, operands[i].field);
    fmt::format_to(out_, "{}{}{}{}", i == 0 ? " " : ", ", operands[i].text().before, number, operands[i].text().after);
    if (note.empty()) note = comment(op, operands[i].kind, number);
  }
  if (!note.empty()) fmt::format_to(out_, "{}! {}", info(op).format == Format::pushts ? "\t" : "\t\t", note);
}

// What an operand stands for, to be written behind the instruction; empty when the number says all, or stands for nothing.
std::string Listing::comment(Opcode op, OperandKind kind, unsigned number) const {
  static constexpr std::string_view kPushTypes[] = {"D type", "string", "D type by ref"};
  switch (kind) {
    case OperandKind::integer:
      return number < difo_.integers.size() ? fmt::format("0x{:x}", difo_.integers[number]) : "";
    case OperandKind::string:
      if (number >= difo_.strings.size()) return "";
      return strsize_ ? fmt::format("\"{}\"", difo_.strings.c_str() + number) : quoted(difo_.strings.c_str() + number);
    case OperandKind::subroutine:
      return number < kSubroutineCount ? std::string(kSubroutines[number].name) : "";
    case OperandKind::type:
      return number < (strsize_ ? 2 : std::size(kPushTypes)) ? fmt::format("DT_TYPE({}) = {}", number, kPushTypes[number]) : "";
    case OperandKind::variable: {
      const std::string_view name = variable_name(op, number);
      return name.empty() ? "" : fmt::format("DT_VAR({}) = \"{}\"", number, name);
    }
    default:
      return "";
  }
}

std::string_view Listing::variable_name(Opcode op, unsigned id) const {
  const Scope scope = scope_of(op);
  const BuiltInInfo* row = scope == Scope::global ? find_built_in(id) : nullptr;
  if (row) return row->name;
  for (const Variable& v : difo_.variables)
    if (v.id == id && v.scope == scope) return v.name;
  return {};
}

void Listing::variables() {
  fmt::format_to(out_, "\n{:<16} {:<4} {:<3} {:<3} {:<4} {}\n", "NAME", "ID", "KND", "SCP", "FLAG", "TYPE");
  for (const Variable& v : variables_) {
    const std::string_view flags = v.is_read ? (v.is_written ? "r/w" : "r") : (v.is_written ? "w" : strsize_ ? "" : "-");
    fmt::format_to(out_, "{:<16} {:<4x} {:<3} {:<3} {:<4} {}\n", v.name, v.id, kListedKinds[static_cast<int>(v.kind)],
                   kListedScopes[static_cast<int>(v.scope)], flags, type(v.type));
  }
}

}  // namespace

std::string disassemble(const Difo& difo) { return Listing(difo, std::nullopt).print("DIFO"); }

std::string list_as_dtrace(const Difo& difo, uint64_t number, uint64_t strsize) {
  return Listing(difo, strsize).print(fmt::format("\nDIFO {:#x}", number));
}

}  // namespace dvm::dif
