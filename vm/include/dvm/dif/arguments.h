#pragma once
// Argument lists of subroutines, actions and aggregating functions: "string int int?". They are parsed at compile time; an
// unknown word is a compile error.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dvm::dif {

enum class ArgumentType : uint8_t {
  any,
  number,  // int, int64, uint64, uint32, uint16, char
  string,
  ptr,          // an address of the traced process or of scratch
  bytes,        // an address of scratch
  constant,     // const: an integer constant in the script, which is not recorded
  format,       // fmt: a format string
  aggregation,  // agg
  formatted     // ...: the arguments of the format
};

struct Argument {
  std::string_view word;  // the D type, or one of the words above
  ArgumentType type = ArgumentType::any;
  bool is_optional = false;
};

class ArgumentList {
 public:
  explicit consteval ArgumentList(std::string_view text) : text_(text) {
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(rest.size() == word.size() ? word.size() : word.size() + 1);
      add(word);
    }
  }

  constexpr const Argument* begin() const { return arguments_.data(); }
  constexpr const Argument* end() const { return arguments_.data() + size_; }
  constexpr size_t size() const { return size_; }
  constexpr const Argument& operator[](size_t i) const { return arguments_[i]; }
  constexpr size_t required() const { return required_; }  // number of arguments that must be given
  constexpr std::string_view text() const { return text_; }

 private:
  struct TypeWord {
    std::string_view word;
    ArgumentType type;
  };
  static constexpr TypeWord kWords[] = {
      {"any", ArgumentType::any},         {"int", ArgumentType::number},     {"int64", ArgumentType::number},
      {"uint64", ArgumentType::number},   {"uint32", ArgumentType::number},  {"uint16", ArgumentType::number},
      {"char", ArgumentType::number},     {"string", ArgumentType::string},  {"ptr", ArgumentType::ptr},
      {"bytes", ArgumentType::bytes},     {"const", ArgumentType::constant}, {"fmt", ArgumentType::format},
      {"agg", ArgumentType::aggregation}, {"...", ArgumentType::formatted},
  };

  consteval void add(std::string_view word) {
    const bool is_optional = word.ends_with('?');
    if (is_optional) word.remove_suffix(1);
    arguments_[size_++] = {word, type_of(word), is_optional};
    if (!is_optional) required_ = size_;
  }
  static consteval ArgumentType type_of(std::string_view word) {
    for (const TypeWord& row : kWords)
      if (row.word == word) return row.type;
    throw "no type of an argument";
  }

  std::string_view text_;
  std::array<Argument, 6> arguments_{};
  size_t size_ = 0, required_ = 0;
};

}  // namespace dvm::dif
