// Expansion of macros. Tests: tests/unit/compiler/compile_test.cpp.
#include "compiler/sema/macros.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/parse/literal.h"

namespace dvm::compiler {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::string> argument_text(std::string_view name, Location where, Session& s) {
  size_t index = 0;
  for (const char c : name) {
    if (!is_digit(c)) {
      s.error(Tag::D_SYNTAX, where, fmt::format("syntax error near \"${}\"", name));
      return {};
    }
    index = std::min<size_t>(index * 10 + static_cast<size_t>(c - '0'), 1'000'000);
  }
  if (s.used_arguments.size() <= index) s.used_arguments.resize(index + 1);
  s.used_arguments[index] = true;
  if (index < s.options.arguments.size()) return s.options.arguments[index];
  if (s.options.default_arguments) return "";
  s.error(Tag::D_MACRO_UNDEF, where, fmt::format("macro argument ${} is not defined", name),
          {fmt::format("give it after the script's name, or -x defaultargs")});
  return {};
}

bool is_name(std::string_view text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

std::optional<std::string> macro_text(std::string_view name, Location where, Session& s) {
  if (!name.empty() && is_digit(name[0])) return argument_text(name, where, s);
  if (const auto it = s.options.macros.find(std::string(name)); it != s.options.macros.end()) return it->second;
  std::vector<std::string> hints;
  if (name == "target") hints.push_back("$target needs -p PID or -c CMD");
  s.error(Tag::D_MACRO_UNDEF, where, fmt::format("macro variable ${} is not defined", name), std::move(hints));
  return {};
}

ExprPtr expand_macro(const Macro& macro, Session& s) {
  const std::optional<std::string> text = macro_text(macro.name, macro.where, s);
  if (!text) return nullptr;
  if (macro.as_string) {
    auto e = std::make_unique<String>(macro.where);
    e->value = *text;
    return e;
  }
  const bool negative = text->starts_with('-'), sign = negative || text->starts_with('+');
  const std::string digits = text->substr(sign ? 1 : 0);
  if (text->empty()) return std::make_unique<Integer>(macro.where);
  if (!digits.empty() && is_digit(digits[0])) {
    ExprPtr value = parse_integer(digits, macro.where, s.diagnostics);
    if (!negative) return value;
    auto minus = std::make_unique<Unary>(macro.where);
    minus->op = Op::minus, minus->operand = std::move(value);
    return minus;
  }
  if (!is_name(*text)) {
    s.error(Tag::D_MACRO_SYNTAX, macro.where,
            fmt::format("macro ${} is neither an integer nor a name: \"{}\"", macro.name, *text),
            {fmt::format("write $${} for a string", macro.name)});
    return nullptr;
  }
  auto e = std::make_unique<Identifier>(macro.where);
  e->name = *text;
  return e;
}

}  // namespace dvm::compiler
