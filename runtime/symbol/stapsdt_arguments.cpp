// Finds the arguments of a note. Covered by tests/unit/instrument/stapsdt_test.cpp and tests/fuzz/targets/stapsdt.cpp.
//
//   argument   [size@]operand                size: 1 2 4 8, "-" before it: signed, "f" behind it: the bits of a floating-point
//   number operand    %register | $constant | [symbol][+-displacement][(base[,index[,scale]])]

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/symbol/stapsdt.h"

namespace dvm::runtime {
namespace {

struct Register {
  uint8_t word = kNoWord;
  uint8_t size = 8;
  uint8_t shift = 0;
};

struct RegisterName {
  std::string_view name;  // of its lower 16 bits, or of all 64 if it has a number
  uint8_t word;
};
constexpr std::array<RegisterName, 16> kRegisters = {{{"ax", saved::rax},
                                                      {"bx", 5},
                                                      {"cx", saved::rcx},
                                                      {"dx", saved::rdx},
                                                      {"si", saved::rsi},
                                                      {"di", saved::rdi},
                                                      {"bp", saved::rbp},
                                                      {"sp", saved::rsp},
                                                      {"r8", saved::r8},
                                                      {"r9", saved::r9},
                                                      {"r10", 7},
                                                      {"r11", 6},
                                                      {"r12", 3},
                                                      {"r13", 2},
                                                      {"r14", 1},
                                                      {"r15", 0}}};

// %r8 %r8d %r8w %r8b
std::optional<Register> match_numbered(std::string_view name, const RegisterName& row) {
  if (!name.starts_with(row.name)) return std::nullopt;
  const std::string_view width = name.substr(row.name.size());
  if (width.empty()) return Register{row.word, 8, 0};
  if (width == "d") return Register{row.word, 4, 0};
  if (width == "w") return Register{row.word, 2, 0};
  if (width == "b" || width == "l") return Register{row.word, 1, 0};
  return std::nullopt;
}

// %rax %eax %ax %al %ah, %rsi %esi %si %sil
std::optional<Register> match_named(std::string_view name, const RegisterName& row) {
  if (name == row.name) return Register{row.word, 2, 0};
  if (name.size() == 3 && name.substr(1) == row.name && (name[0] == 'r' || name[0] == 'e'))
    return Register{row.word, static_cast<uint8_t>(name[0] == 'r' ? 8 : 4), 0};
  const bool is_lettered = row.name[1] == 'x';
  if (is_lettered && name.size() == 2 && name[0] == row.name[0] && (name[1] == 'l' || name[1] == 'h'))
    return Register{row.word, 1, static_cast<uint8_t>(name[1] == 'h' ? 8 : 0)};
  if (!is_lettered && name.size() == 3 && name.starts_with(row.name) && name[2] == 'l') return Register{row.word, 1, 0};
  return std::nullopt;
}

std::optional<Register> find_register(std::string_view name) {
  if (name == "rip") return Register{saved::rip, 8, 0};
  for (const RegisterName& row : kRegisters) {
    auto found = row.name[0] == 'r' ? match_numbered(name, row) : match_named(name, row);
    if (found) return found;
  }
  return std::nullopt;
}

// %xmm0 to %xmm15
std::optional<uint8_t> vector_number(std::string_view name) {
  if (!name.starts_with("xmm")) return std::nullopt;
  name.remove_prefix(3);
  uint8_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number < kVectorRegisters;
  return is_number ? std::optional(number) : std::nullopt;
}

// Takes a number off the text: decimal or hexadecimal, with its sign. None: the text begins with no number.
std::optional<int64_t> take_number(std::string_view& text) {
  std::string_view rest = text;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  const bool is_hex = rest.starts_with("0x") || rest.starts_with("0X");
  if (is_hex) rest.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, is_hex ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  text = rest;
  return static_cast<int64_t>(is_negative ? -value : value);
}

bool is_symbol_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

std::string_view take_symbol(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_symbol_character);
  const std::string_view symbol = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(symbol.size());
  return symbol;
}

// "1", "8", "-4", "8f"; false: it is none of these.
bool parse_size(std::string_view text, Operand& operand) {
  operand.is_signed = text.starts_with('-');
  if (operand.is_signed) text.remove_prefix(1);
  if (text.ends_with('f')) text.remove_suffix(1), operand.is_signed = false;
  if (text.size() != 1 || std::string_view("1248").find(text[0]) == std::string_view::npos) return false;
  operand.size = static_cast<uint8_t>(text[0] - '0');
  return true;
}

// A constant, truncated to the size of its argument.
int64_t narrow(int64_t value, const Operand& operand) {
  if (operand.size == 8) return value;
  const unsigned unused = 64 - 8u * operand.size;
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  return operand.is_signed ? static_cast<int64_t>(shifted) >> unused : static_cast<int64_t>(shifted >> unused);
}

class ArgumentParser {
 public:
  ArgumentParser(std::string_view text, uint64_t address, const SymbolAddress& symbol)
      : whole_(text), rest_(text), address_(address), symbol_(symbol) {}

  StapsdtArgument parse() {
    if (const size_t at = rest_.find('@'); at != std::string_view::npos) {
      if (!parse_size(rest_.substr(0, at), operand_)) return refuse("its size is not that of a register");
      rest_.remove_prefix(at + 1);
      has_size_ = true;
    }
    const std::string problem = rest_.starts_with('%')   ? parse_register()
                                : rest_.starts_with('$') ? parse_constant()
                                                         : parse_memory();
    return problem.empty() ? StapsdtArgument{operand_, ""} : refuse(problem);
  }

 private:
  StapsdtArgument refuse(std::string_view why) const { return {{}, fmt::format("'{}': {}", whole_, why)}; }

  std::string parse_register() {
    if (const auto vector = vector_number(rest_.substr(1))) {
      operand_.kind = Operand::Kind::vector;
      operand_.base = *vector;
      return "";
    }
    const auto found = find_register(rest_.substr(1));
    if (!found) return "it is in no general register, nor in %xmm0 to %xmm15";
    operand_.kind = Operand::Kind::saved;
    operand_.base = found->word;
    operand_.shift = found->shift;
    operand_.size = has_size_ ? std::min(operand_.size, found->size) : found->size;
    return "";
  }

  std::string parse_constant() {
    rest_.remove_prefix(1);
    const auto value = take_number(rest_);
    if (!value || !rest_.empty()) return "its constant is not a number";
    operand_.kind = Operand::Kind::constant;
    operand_.value = narrow(*value, operand_);
    operand_.size = 8;
    operand_.is_signed = false;
    return "";
  }

  std::string parse_memory() {
    std::string symbol;
    if (!take_address(symbol)) return "its address has an unknown form";
    if (std::string problem = parse_registers(); !problem.empty()) return problem;
    operand_.kind = Operand::Kind::memory;
    if (operand_.base == saved::rip && symbol.empty()) return "the instruction that its address is relative to is not known";
    return symbol.empty() ? "" : resolve(symbol);
  }

  // [symbol][+-displacement], in either order.
  bool take_address(std::string& symbol) {
    while (!rest_.empty() && rest_[0] != '(') {
      if (const auto number = take_number(rest_)) {
        operand_.value = static_cast<int64_t>(static_cast<uint64_t>(operand_.value) + static_cast<uint64_t>(*number));
        continue;
      }
      if (rest_.starts_with('+')) rest_.remove_prefix(1);
      if (!symbol.empty()) return false;
      symbol = take_symbol(rest_);
      if (symbol.empty()) return false;
    }
    return true;
  }

  // (base), (base,index), (base,index,scale), (,index,scale) or nothing: an address.
  std::string parse_registers() {
    if (rest_.empty()) return "";
    if (!rest_.ends_with(')')) return "its address has an unknown form";
    std::string_view inside = rest_.substr(1, rest_.size() - 2);
    std::array<std::string_view, 3> parts;
    for (std::string_view& part : parts) {
      part = inside.substr(0, inside.find(','));
      inside.remove_prefix(std::min(inside.size(), part.size() + 1));
    }
    if (!inside.empty()) return "its address has more than three parts";
    if (!take_word(parts[0], operand_.base) || !take_word(parts[1], operand_.index))
      return "its address does not consist of 64-bit registers";
    if (!parts[2].empty() && !(parts[2].size() == 1 && std::string_view("1248").find(parts[2][0]) != std::string_view::npos))
      return "its scale is not 1, 2, 4 or 8";
    if (!parts[2].empty()) operand_.scale = static_cast<uint8_t>(parts[2][0] - '0');
    return "";
  }

  static bool take_word(std::string_view part, uint8_t& word) {
    if (part.empty()) return true;
    const auto found = part.starts_with('%') ? find_register(part.substr(1)) : std::nullopt;
    if (found && found->size == 8) word = found->word;
    return found && found->size == 8;
  }

  // A symbol is where the program was loaded, and that is known by the location alone, where %rip is when the probe fires.
  std::string resolve(const std::string& symbol) {
    if (operand_.base != saved::rip && operand_.base != kNoWord) return "its address is of a symbol and a register";
    const auto found = symbol_(symbol);
    if (!found) return fmt::format("the symbol {} is not in the file", symbol);
    operand_.base = saved::rip;
    operand_.value = static_cast<int64_t>(static_cast<uint64_t>(operand_.value) + *found - address_);
    return "";
  }

  std::string_view whole_, rest_;
  uint64_t address_;
  const SymbolAddress& symbol_;
  Operand operand_;
  bool has_size_ = false;
};

}  // namespace

std::vector<StapsdtArgument> parse_stapsdt_arguments(std::string_view text, uint64_t address, const SymbolAddress& symbol) {
  std::vector<StapsdtArgument> arguments;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return arguments;
    const std::string_view word = text.substr(0, text.find(' '));
    arguments.push_back(ArgumentParser(word, address, symbol).parse());
    text.remove_prefix(word.size());
  }
}

}  // namespace dvm::runtime
