// Expansion of macros. Tests: tests/unit/compiler/compile_test.cpp, tests/golden/sema (err.D_MACRO_*.d, tst.macros.d).
#include "compiler/sema/macros.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "common/similar.h"
#include "compiler/ast/visitor.h"
#include "compiler/parse/literal.h"

namespace dvm::compiler {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// $0, $1, ...: nothing where the command line ends before.
const std::string* argument(std::string_view name, Session& s) {
  size_t index = 0;
  for (const char c : name) index = std::min<size_t>(index * 10 + static_cast<size_t>(c - '0'), 1'000'000);
  if (s.used_arguments.size() <= index) s.used_arguments.resize(index + 1);
  s.used_arguments[index] = true;
  return index < s.options.arguments.size() ? &s.options.arguments[index] : nullptr;
}

std::optional<std::string> argument_text(std::string_view name, std::string_view sign, Location where, Session& s) {
  if (!std::all_of(name.begin(), name.end(), is_digit)) {
    s.error(Tag::D_SYNTAX, where, fmt::format("syntax error near \"{}{}\"", sign, name));
    return {};
  }
  if (const std::string* text = argument(name, s)) return *text;
  if (s.options.default_arguments) return "";
  s.error(Tag::D_MACRO_UNDEF, where, fmt::format("macro argument {}{} is not defined", sign, name),
          {fmt::format("give it after the script's name, or use -x defaultargs")});
  return {};
}

std::vector<std::string> hints_for(std::string_view name, const Session& s) {
  if (name == "target") return {"$target needs -p PID or -c CMD"};
  std::vector<std::string_view> known = {"target"};
  for (const auto& [macro, value] : s.options.macros) known.push_back(macro);
  return near_hints(name, known, "$");
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  (void)std::strtoull(text.c_str(), &end, 0);
  return errno == 0 && end != text.c_str() && *end == 0;
}

// Letters, digits, _ and `: an identifier, a scoped one, or an integer that is too large or has a wrong digit.
bool is_word(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '`'; });
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// With its escapes resolved.
ExprPtr make_string(Location where, std::string_view text) {
  auto e = std::make_unique<String>(where);
  e->value = unescape(fmt::format("\"{}\"", text));
  return e;
}

constexpr uint64_t kLowest = uint64_t{1} << 63;  // the amount of the lowest number of 64 bits

ExprPtr negated(ExprPtr value) {
  auto minus = std::make_unique<Unary>(value->where);
  minus->op = Op::minus, minus->operand = std::move(value);
  return minus;
}

// -9223372036854775807 - 1: without its sign the number is unsigned.
ExprPtr lowest_number(Location where, Session& s) {
  auto difference = std::make_unique<Binary>(where);
  difference->op = Op::subtract;
  difference->left = negated(parse_integer(std::to_string(kLowest - 1), where, s.diagnostics));
  difference->right = parse_integer("1", where, s.diagnostics);
  return difference;
}

ExprPtr make_integer(const Macro& macro, const std::string& text, Session& s) {
  const bool negative = text[0] == '-';
  const std::string digits = text.substr(negative || text[0] == '+' ? 1 : 0);
  errno = 0;
  const uint64_t amount = std::strtoull(digits.c_str(), nullptr, 0);
  if (errno == ERANGE || (negative && amount > kLowest)) {
    const std::string_view region = s.diagnostics.set_region("");  // dtrace finds it before it knows the region
    s.error(Tag::D_MACRO_OFLOW, macro.where,
            fmt::format("macro argument ${} constant {} results in integer overflow", macro.name, text));
    s.diagnostics.set_region(region);
    return nullptr;
  }
  if (negative && amount == kLowest) return lowest_number(macro.where, s);
  ExprPtr value = parse_integer(digits, macro.where, s.diagnostics);
  return negative && value ? negated(std::move(value)) : std::move(value);
}

}  // namespace

std::optional<std::string> macro_text(std::string_view name, Location where, Session& s, std::string_view sign,
                                      std::vector<std::string> otherwise) {
  if (!name.empty() && is_digit(name[0])) return argument_text(name, sign, where, s);
  if (const auto it = s.options.macros.find(std::string(name)); it != s.options.macros.end()) return it->second;
  std::vector<std::string> hints = hints_for(name, s);
  if (hints.empty()) hints = std::move(otherwise);
  s.error(Tag::D_MACRO_UNDEF, where, fmt::format("macro variable {}{} is not defined", sign, name), std::move(hints));
  return {};
}

// As dtrace reads them: what is not an integer is a string.
ExprPtr expand_macro(const Macro& macro, Session& s) {
  const bool no_target = macro.name == "target" && !s.options.refuse_target && !s.options.macros.contains("target");
  std::vector<std::string> advice;
  if (!macro.as_string) advice.push_back(fmt::format("a variable of the clause is this->{}", macro.name));
  const std::optional<std::string> text =
      no_target ? "0" : macro_text(macro.name, macro.where, s, macro.as_string ? "$$" : "$", std::move(advice));
  if (!text) return nullptr;
  if (macro.as_string) return make_string(macro.where, *text);
  const bool is_missing = is_digit(macro.name[0]) && !argument(macro.name, s);
  if (is_missing) return std::make_unique<Integer>(macro.where);
  const bool is_integer = is_number(*text) || (is_word(*text) && is_digit(text->front()));
  return is_integer ? make_integer(macro, *text, s) : make_string(macro.where, without_quotes(*text));
}

void use_macros(Expr& e, Session& s) {
  if (const auto* macro = as<Macro>(&e)) (void)expand_macro(*macro, s);
  for_each_child(e, [&](ExprPtr& child) { use_macros(*child, s); });
}

}  // namespace dvm::compiler
