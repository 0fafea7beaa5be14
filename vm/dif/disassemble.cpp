// A DIFO as DTrace's -S prints it, without the address of the object, so that listings can be compared. What D knows of a type
// beyond that form follows it as a comment ("! signed, int"). Integers, strings and names stand beside the instructions that use
// them; the assembler (assemble.cpp) reads them back from there. Covered by tests/unit/vm/text_test.cpp.

#include <fmt/format.h>

#include <iterator>

#include "dvm/dif/opcode.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/text.h"
#include "dvm/dif/variable.h"

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
  if (type.kind == TypeKind::string && type.name == "string" && !type.is_signed && !type.is_char) return out;
  if (type.kind == TypeKind::integer)
    out += type.is_signed ? "\t! signed" : "\t! unsigned";
  else
    out += type.is_signed ? "\t! signed" : "\t!";
  if (type.is_char) out += " char";
  if (!type.name.empty()) fmt::format_to(std::back_inserter(out), ", {}", type.name);
  return out;
}

class Listing {
 public:
  explicit Listing(const Difo& difo) : difo_(difo), out_(text_) {}

  std::string print() {
    fmt::format_to(out_, "DIFO returns {}\n", type_text(difo_.result));
    fmt::format_to(out_, "{:<3} {:<8}    {}\n", "OFF", "OPCODE", "INSTRUCTION");
    for (size_t pc = 0; pc < difo_.text.size(); pc++) {
      fmt::format_to(out_, "{:02}: {:08x}    ", pc, difo_.text[pc].word());
      instruction(difo_.text[pc]);
      text_ += '\n';
    }
    if (!difo_.variables.empty()) variables();
    return std::move(text_);
  }

 private:
  void instruction(Instruction in);
  void constant(Instruction in, Format format);
  void variable(unsigned id, Scope scope);
  void push(Instruction in, std::string_view mnemonic);
  void variables();

  static Scope scope_of(Opcode op) {
    if (op == Opcode::ldts || op == Opcode::stts || op == Opcode::ldtaa || op == Opcode::sttaa || op == Opcode::ldta)
      return Scope::thread;
    return op == Opcode::ldls || op == Opcode::stls ? Scope::clause : Scope::global;
  }

  const Difo& difo_;
  std::string text_;
  Out out_;
};

void Listing::instruction(Instruction in) {
  if (!is_opcode(in.number())) {
    fmt::format_to(out_, "unknown");
    return;
  }
  const OpcodeInfo& row = info(in.opcode());
  const std::string_view name = row.mnemonic;
  switch (row.format) {
    case Format::none:
      fmt::format_to(out_, "{}", name);
      return;
    case Format::log:
      fmt::format_to(out_, "{:<4} %r{}, %r{}, %r{}", name, in.r1(), in.r2(), in.rd());
      return;
    case Format::r1rd:
      fmt::format_to(out_, "{:<4} %r{}, %r{}", name, in.r1(), in.rd());
      return;
    case Format::cmp:
      fmt::format_to(out_, "{:<4} %r{}, %r{}", name, in.r1(), in.r2());
      return;
    case Format::tst:
      fmt::format_to(out_, "{:<4} %r{}", name, in.r1());
      return;
    case Format::branch:
      fmt::format_to(out_, "{:<4} {}", name, in.label());
      return;
    case Format::load:
      fmt::format_to(out_, "{:<4} [%r{}], %r{}", name, in.r1(), in.rd());
      return;
    case Format::store:
      fmt::format_to(out_, "{:<4} %r{}, [%r{}]", name, in.r1(), in.rd());
      return;
    case Format::ret:
      fmt::format_to(out_, "{:<4} %r{}", name, in.rd());
      return;
    case Format::lda:
      fmt::format_to(out_, "{:<4} DT_VAR({}), %r{}, %r{}", name, in.r1(), in.r2(), in.rd());
      return variable(in.r1(), scope_of(in.opcode()));
    case Format::ldv:
      fmt::format_to(out_, "{:<4} DT_VAR({}), %r{}", name, in.index(), in.rd());
      return variable(in.index(), scope_of(in.opcode()));
    case Format::stv:
      fmt::format_to(out_, "{:<4} %r{}, DT_VAR({})", name, in.rd(), in.index());
      return variable(in.index(), scope_of(in.opcode()));
    case Format::pushts:
      return push(in, name);
    case Format::setx:
    case Format::sets:
    case Format::call:
    case Format::xlate:
      return constant(in, row.format);
  }
}

void Listing::constant(Instruction in, Format format) {
  const std::string_view name = info(in.opcode()).mnemonic;
  const unsigned index = in.index();
  switch (format) {
    case Format::setx:
      fmt::format_to(out_, "{:<4} DT_INTEGER[{}], %r{}", name, index, in.rd());
      if (index < difo_.integers.size()) fmt::format_to(out_, "\t\t! 0x{:x}", difo_.integers[index]);
      return;
    case Format::sets:
      fmt::format_to(out_, "{:<4} DT_STRING[{}], %r{}", name, index, in.rd());
      if (index < difo_.strings.size()) fmt::format_to(out_, "\t\t! {}", quoted(difo_.strings.c_str() + index));
      return;
    case Format::call:
      fmt::format_to(out_, "{:<4} DIF_SUBR({}), %r{}", name, index, in.rd());
      if (index < kSubroutineCount) fmt::format_to(out_, "\t\t! {}", kSubroutines[index].name);
      return;
    default:
      fmt::format_to(out_, "{:<4} DT_XLREF[{}], %r{}", name, index, in.rd());
  }
}

void Listing::variable(unsigned id, Scope scope) {
  const BuiltInInfo* row = scope == Scope::global ? find_built_in(id) : nullptr;
  if (row) fmt::format_to(out_, "\t\t! DT_VAR({}) = \"{}\"", id, row->name);
  if (row) return;
  for (const Variable& v : difo_.variables) {
    if (v.id != id || v.scope != scope) continue;
    fmt::format_to(out_, "\t\t! DT_VAR({}) = \"{}\"", id, v.name);
    return;
  }
}

void Listing::push(Instruction in, std::string_view mnemonic) {
  static constexpr std::string_view kTypes[] = {"D type", "string", "D type by ref"};
  if (in.opcode() == Opcode::pushtv)
    fmt::format_to(out_, "{:<4} DT_TYPE({}), %r{}\t", mnemonic, in.r1(), in.rd());
  else
    fmt::format_to(out_, "{:<4} DT_TYPE({}), %r{}, %r{}", mnemonic, in.r1(), in.r2(), in.rd());
  if (in.r1() < std::size(kTypes)) fmt::format_to(out_, "\t! DT_TYPE({}) = {}", in.r1(), kTypes[in.r1()]);
}

void Listing::variables() {
  static constexpr std::string_view kKinds[] = {"scl", "arr"};
  static constexpr std::string_view kScopes[] = {"glb", "tls", "loc"};
  fmt::format_to(out_, "\n{:<16} {:<4} {:<3} {:<3} {:<4} {}\n", "NAME", "ID", "KND", "SCP", "FLAG", "TYPE");
  for (const Variable& v : difo_.variables) {
    const std::string_view flags = v.is_read ? (v.is_written ? "r/w" : "r") : (v.is_written ? "w" : "-");
    fmt::format_to(out_, "{:<16} {:<4x} {:<3} {:<3} {:<4} {}\n", v.name, v.id, kKinds[static_cast<int>(v.kind)],
                   kScopes[static_cast<int>(v.scope)], flags, type_text(v.type));
  }
}

}  // namespace

std::string disassemble(const Difo& difo) { return Listing(difo).print(); }

}  // namespace dvm::dif
