// DIF from text: what the disassembler prints, and a terse form for people.
//
//   returns int32                      the result's type: [u]int8 .. [u]int64, string, bytes[n], void
//   x 500 scl glb r/w int32            a variable: name, id (hex), scl or arr, glb tls or loc, flags, type
//           ldgs arg0, %r1             a variable by its name or as DT_VAR(262)
//           setx 0x10, %r2             a constant, entered in the table; likewise sets "text", %r3
//           be   done                  a label, or the number of an instruction
//           call strlen, %r1           a subroutine by its name or as DIF_SUBR(12)
//   done:   ret  %r1                   "!" begins a comment
//
// In a listing the constants stand in the comments of the instructions that use them, so what no instruction uses is not there.
// Covered by tests/unit/vm/text_test.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/text.h"
#include "dvm/dif/variable.h"
#include "vm/dif/format.h"

namespace dvm::dif {

namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr uint64_t kMostTableIndex = 0xffff;

struct AssemblyError {
  std::string message;
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == kNone) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::optional<uint64_t> number_of(std::string_view text, int base = 10) {
  const bool negative = base == 10 && text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.starts_with("0x")) base = 16, text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return negative ? 0 - value : value;
}

// "NAME[12]" or "NAME(12)", given "NAME[" or "NAME(".
std::optional<uint64_t> bracketed(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || text.size() <= name.size()) return std::nullopt;
  const char close = name.back() == '[' ? ']' : ')';
  if (text.back() != close) return std::nullopt;
  return number_of(text.substr(name.size(), text.size() - name.size() - 1));
}

// The end of a string that starts with a quote: one past its closing quote.
size_t quote_end(std::string_view text) {
  for (size_t at = 1; at < text.size(); at++) {
    if (text[at] == '\\')
      at++;
    else if (text[at] == '"')
      return at + 1;
  }
  throw AssemblyError{"string without an end"};
}

std::string unquoted(std::string_view text) {
  std::string out;
  for (size_t at = 1; at + 1 < text.size(); at++) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const char c = text[++at];
    if (c == 'x' && at + 3 < text.size()) {
      const auto byte = number_of(text.substr(at + 1, 2), 16);
      if (!byte) throw AssemblyError{"bad \\x in a string"};
      out += static_cast<char>(*byte);
      at += 2;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

// A line without its comment, and the comment.
struct SourceLine {
  std::string_view code, comment;
};

SourceLine split_comment(std::string_view text) {
  for (size_t at = 0; at < text.size(); at++) {
    if (text[at] == '"')
      at += quote_end(text.substr(at)) - 1;
    else if (text[at] == '!')
      return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
  }
  return {trimmed(text), {}};
}

std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> operands;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    size_t end = text[0] == '"' ? quote_end(text) : 0;
    end = std::min(text.find(',', end), text.size());
    operands.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return operands;
}

// Types.

std::optional<DataType> terse_type(std::string_view text) {
  if (text == "void") return DataType{};
  if (text == "string") return DataType{TypeKind::string, false, false, 0, "string"};
  if (const auto size = bracketed(text, "bytes["))
    return DataType{TypeKind::bytes, false, false, static_cast<uint32_t>(*size), ""};
  const bool is_signed = !text.starts_with('u');
  for (const unsigned size : {1u, 2u, 4u, 8u})
    if (text == fmt::format("{}int{}", is_signed ? "" : "u", size * 8))
      return DataType{TypeKind::integer, is_signed, false, size, std::string(text) + "_t"};
  return std::nullopt;
}

// "signed char, name" behind a type of a listing.
void read_type_comment(std::string_view comment, DataType& type) {
  const size_t comma = comment.find(',');
  for (const std::string_view word : words_of(comment.substr(0, comma))) {
    if (word == "signed") type.is_signed = true;
    if (word == "char") type.is_char = true;
  }
  if (comma != kNone) type.name = trimmed(comment.substr(comma + 1));
}

DataType listed_type(std::string_view text, std::string_view comment) {
  DataType type;
  if (text.starts_with("string"))
    type = {TypeKind::string, false, false, 0, comment.empty() ? "string" : ""};
  else if (text.starts_with("D type (integer)"))
    type.kind = TypeKind::integer;
  else if (text.starts_with("D type (struct)"))
    type.kind = TypeKind::bytes;
  else if (!text.starts_with("D type (void)"))
    throw AssemblyError{fmt::format("unknown type '{}'", text)};
  const size_t size = text.find("(size ");
  if (size != kNone && text.back() == ')') {
    const auto bytes = number_of(text.substr(size + 6, text.size() - size - 7));
    if (!bytes) throw AssemblyError{"bad size of a type"};
    type.size = static_cast<uint32_t>(*bytes);
  }
  read_type_comment(comment, type);
  return type;
}

DataType type_of(std::string_view text, std::string_view comment) {
  if (const auto terse = terse_type(text)) return *terse;
  return listed_type(text, comment);
}

class Assembler {
 public:
  Difo assemble(std::string_view text);
  unsigned line() const { return line_; }

 private:
  void read_line(const SourceLine& line);
  bool read_variable(const SourceLine& line);
  void read_instruction(std::string_view code, std::string_view comment);
  void encode(Opcode op, std::vector<std::string_view> words, std::string_view comment);
  uint64_t value(Opcode op, OperandKind kind, std::string_view text, std::string_view comment);
  uint64_t label(std::string_view text);
  void resolve_labels();

  uint64_t integer(std::string_view text, std::string_view comment);
  uint64_t string(std::string_view text, std::string_view comment);
  uint64_t variable(std::string_view text, Opcode op);

  struct Fixup {
    size_t pc;
    std::string_view label;
    unsigned line;
  };

  Difo difo_;
  std::map<std::string_view, size_t> labels_;
  std::vector<Fixup> fixups_;
  unsigned line_ = 0;
};

// The index inside "DT_INTEGER[4]" and its like.
std::optional<uint64_t> listed(OperandKind kind, std::string_view text) {
  const OperandText& form = kOperandTexts[static_cast<size_t>(kind)];
  if (text.size() <= form.before.size() || !text.starts_with(form.before) || !text.ends_with(form.after)) return std::nullopt;
  return number_of(text.substr(form.before.size(), text.size() - form.before.size() - form.after.size()));
}

uint64_t register_of(OperandKind kind, std::string_view text) {
  const auto number = listed(kind, text);
  if (!number) throw AssemblyError{fmt::format("'{}' is no {}", text, kind == OperandKind::reg ? "register" : "address")};
  return *number;
}

uint64_t Assembler::integer(std::string_view text, std::string_view comment) {
  if (const auto at = listed(OperandKind::integer, text)) {
    const auto value = number_of(comment);
    if (!value || *at > kMostTableIndex) return *at;
    if (*at >= difo_.integers.size()) difo_.integers.resize(*at + 1);
    difo_.integers[*at] = *value;
    return *at;
  }
  const auto value = number_of(text);
  if (!value) throw AssemblyError{fmt::format("'{}' is not an integer", text)};
  const auto found = std::find(difo_.integers.begin(), difo_.integers.end(), *value);
  const auto at = static_cast<uint64_t>(found - difo_.integers.begin());
  if (found == difo_.integers.end()) difo_.integers.push_back(*value);
  return at;
}

uint64_t Assembler::string(std::string_view text, std::string_view comment) {
  if (const auto at = listed(OperandKind::string, text)) {
    if (!comment.starts_with('"') || *at > kMostTableIndex) return *at;
    const std::string value = unquoted(comment.substr(0, quote_end(comment)));
    if (difo_.strings.size() < *at + value.size() + 1) difo_.strings.resize(*at + value.size() + 1);
    difo_.strings.replace(*at, value.size(), value);
    return *at;
  }
  if (!text.starts_with('"')) throw AssemblyError{fmt::format("'{}' is not a string", text)};
  const size_t at = difo_.strings.size();
  difo_.strings += unquoted(text) + '\0';
  return at;
}

uint64_t Assembler::variable(std::string_view text, Opcode op) {
  if (const auto id = listed(OperandKind::variable, text)) return *id;
  for (const Variable& v : difo_.variables)
    if (v.name == text && v.scope == scope_of(op)) return v.id;
  for (const BuiltInInfo& row : kBuiltIns)
    if (row.name == text) return static_cast<uint64_t>(row.id);
  throw AssemblyError{fmt::format("unknown variable '{}'", text)};
}

uint64_t subroutine_of(std::string_view text) {
  if (const auto number = listed(OperandKind::subroutine, text)) return *number;
  for (const SubroutineInfo& row : kSubroutines)
    if (row.name == text) return static_cast<uint64_t>(row.id);
  throw AssemblyError{fmt::format("unknown subroutine '{}'", text)};
}

uint64_t push_type_of(std::string_view text) {
  if (const auto number = listed(OperandKind::type, text)) return *number;
  if (text == "string") return static_cast<uint64_t>(PushType::string);
  if (text == "bytes") return static_cast<uint64_t>(PushType::bytes);
  throw AssemblyError{fmt::format("'{}' is not a type to push", text)};
}

uint64_t Assembler::label(std::string_view text) {
  const auto number = number_of(text);
  if (!number) fixups_.push_back({difo_.text.size(), text, line_});
  return number.value_or(0);
}

uint64_t Assembler::value(Opcode op, OperandKind kind, std::string_view text, std::string_view comment) {
  switch (kind) {
    case OperandKind::integer:
      return integer(text, comment);
    case OperandKind::string:
      return string(text, comment);
    case OperandKind::variable:
      return variable(text, op);
    case OperandKind::subroutine:
      return subroutine_of(text);
    case OperandKind::type:
      return push_type_of(text);
    case OperandKind::label:
      return label(text);
    default:
      return register_of(kind, text);
  }
}

void Assembler::encode(Opcode op, std::vector<std::string_view> words, std::string_view comment) {
  const auto operands = operands_of(op);
  // The terse form leaves the type of a value out.
  if (info(op).format == Format::pushv && words.size() == 1) words.insert(words.begin(), "DT_TYPE(0)");
  if (words.size() != operands.size())
    throw AssemblyError{fmt::format("{} operands, {} expected", words.size(), operands.size())};
  uint32_t word = static_cast<uint32_t>(op) << 24;
  for (size_t i = 0; i < operands.size(); i++) {
    const uint64_t number = value(op, operands[i].kind, words[i], comment);
    const FieldBits bits = bits_of(operands[i].field);
    if (number > bits.most()) throw AssemblyError{fmt::format("{} is too large for an operand of {} bits", number, bits.size)};
    word |= static_cast<uint32_t>(number) << bits.shift;
  }
  difo_.text.push_back(Instruction(word));
}

// "00: 29010601" in front of an instruction of a listing says nothing that does not follow.
std::string_view without_offset(std::string_view code) {
  const auto words = words_of(code);
  if (words.size() < 3 || !words[0].ends_with(':') || words[1].size() != 8) return code;
  if (!number_of(words[0].substr(0, words[0].size() - 1)) || !number_of(words[1], 16)) return code;
  return code.substr(static_cast<size_t>(words[2].data() - code.data()));
}

void Assembler::read_instruction(std::string_view code, std::string_view comment) {
  const size_t end = std::min(code.find_first_of(" \t"), code.size());
  const std::string_view mnemonic = code.substr(0, end);
  for (const OpcodeInfo& row : kOpcodes)
    if (row.mnemonic == mnemonic) return encode(row.opcode, split_operands(code.substr(end)), comment);
  throw AssemblyError{fmt::format("unknown mnemonic '{}'", mnemonic)};
}

template <size_t N>
unsigned position(const std::string_view (&names)[N], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  return static_cast<unsigned>(found - std::begin(names));
}

bool Assembler::read_variable(const SourceLine& line) {
  const auto words = words_of(line.code);
  if (words.size() < 6 || position(kListedKinds, words[2]) == 2 || position(kListedScopes, words[3]) == 3) return false;
  const auto id = number_of(words[1], 16);
  if (!id || *id > kLastVariable) throw AssemblyError{fmt::format("'{}' is not the id of a variable", words[1])};
  Variable variable;
  variable.name = words[0];
  variable.id = static_cast<uint16_t>(*id);
  variable.kind = static_cast<VariableKind>(position(kListedKinds, words[2]));
  variable.scope = static_cast<Scope>(position(kListedScopes, words[3]));
  variable.is_read = words[4].find('r') != kNone;
  variable.is_written = words[4].find('w') != kNone;
  variable.type = type_of(line.code.substr(static_cast<size_t>(words[5].data() - line.code.data())), line.comment);
  difo_.variables.push_back(std::move(variable));
  return true;
}

bool is_heading(std::string_view code) { return code.empty() || code.starts_with("OFF ") || code.starts_with("NAME "); }

void Assembler::read_line(const SourceLine& line) {
  std::string_view code = line.code;
  for (const std::string_view header : {"DIFO returns ", "returns "})
    if (code.starts_with(header)) {
      difo_.result = type_of(trimmed(code.substr(header.size())), line.comment);
      return;
    }
  code = without_offset(code);
  const size_t colon = code.find(':');
  if (colon != kNone && code.find_first_of(" \t\"") > colon) {
    labels_[code.substr(0, colon)] = difo_.text.size();
    code = trimmed(code.substr(colon + 1));
  }
  if (!code.empty()) read_instruction(code, line.comment);
}

void Assembler::resolve_labels() {
  for (const Fixup& fixup : fixups_) {
    line_ = fixup.line;
    const auto found = labels_.find(fixup.label);
    if (found == labels_.end()) throw AssemblyError{fmt::format("unknown label '{}'", fixup.label)};
    if (found->second > bits_of(InstructionField::label).most()) throw AssemblyError{"label is too far"};
    Instruction& in = difo_.text[fixup.pc];
    in = Instruction::branch(in.opcode(), static_cast<unsigned>(found->second));
  }
}

// Variables first, so that instructions above the table can name them.
Difo Assembler::assemble(std::string_view text) {
  std::vector<SourceLine> lines;
  while (!text.empty()) {
    line_++;
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(split_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (read_variable(lines.back()) || is_heading(lines.back().code)) lines.back() = {};
  }
  line_ = 0;
  for (const SourceLine& line : lines) {
    line_++;
    if (!line.code.empty()) read_line(line);
  }
  resolve_labels();
  return std::move(difo_);
}

}  // namespace

Result<Difo> assemble(std::string_view text) {
  Assembler assembler;
  try {
    return assembler.assemble(text);
  } catch (const AssemblyError& error) {
    return Error{fmt::format("line {}: {}", assembler.line(), error.message)};
  }
}

}  // namespace dvm::dif
