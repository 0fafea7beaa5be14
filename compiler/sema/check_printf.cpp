// Formats of printf() and printa() against their arguments. Tests: tests/golden/sema (err.D_PRINTF_*, err.D_PRINTA_*).
#include <fmt/format.h>

#include <cctype>

#include "compiler/sema/check_action.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/format.h"

namespace dvm::compiler {

namespace {

bool is_any(const Type* t) { return is_integer(t); }
bool is_address(const Type* t) { return is_pointer(t) || is_integer(t); }
bool is_long_double(const Type* t) { return is_floating(t) && resolve(*t).size == 16; }
bool is_character(const Type* t) { return is_integer(t) && resolve(*t).size <= 4; }
bool is_word(const Type* t) { return is_integer(t) && resolve(*t).size == 8; }

// Integers of one size: exactly of that sign, or of either for the hexadecimal ones.
template <unsigned size, bool sign>
bool is_exactly(const Type* t) {
  return cls(t) == TypeClass::integer && resolve(*t).size == size && is_signed(t) == sign;
}
template <unsigned size>
bool is_of_size(const Type* t) {
  return cls(t) == TypeClass::integer && resolve(*t).size == size;
}
template <unsigned size>
bool is_array_of(const Type* t) {
  return cls(t) == TypeClass::array && is_of_size<size>(target_of(t));
}
bool is_text(const Type* t) { return is_string(t) || is_array_of<1>(t); }
bool is_symbol(const Type* t) { return is_address(t) || t->name == "_symaddr"; }
bool is_user_symbol(const Type* t) { return is_address(t) || t->name == "_usymaddr"; }

constexpr const char* kInteger = "char, short, int, long, or long long";
constexpr const char* kCharacter = "char, short, or int";
constexpr const char* kFloating = "float, double, or long double";
constexpr const char* kText = "char [] or string (or use stringof)";
constexpr const char* kAddress = "pointer or integer";
constexpr const char* kWideText = "wchar_t []";

// DTrace's conversions: sizes and letters, and what they take in the words of messages.
struct ConversionRow {
  std::string_view names;  // apart by blanks
  std::string_view prototype;
  bool (*accepts)(const Type*);
};
constexpr ConversionRow kConversions[] = {
    {"a", kAddress, is_symbol},
    {"A", "pointer or integer (with -p/-c) or _usymaddr (without -p/-c)", is_user_symbol},
    {"c C", kCharacter, is_character},
    {"d i o u x X", kInteger, is_any},
    {"e E f g G", kFloating, is_floating},
    {"hd hi", "short", is_exactly<2, true>},
    {"ho hu", "unsigned short", is_exactly<2, false>},
    {"hx hX", "short", is_of_size<2>},
    {"I", kText, is_text},
    {"k", "stack", is_stack},
    {"lc wc", "int", is_exactly<4, true>},
    {"ld li", "long", is_exactly<8, true>},
    {"lo lu", "unsigned long", is_exactly<8, false>},
    {"ls ws", kWideText, is_array_of<4>},
    {"lx lX", "long", is_of_size<8>},
    {"lld lli", "long long", is_exactly<8, true>},
    {"llo llu", "unsigned long long", is_exactly<8, false>},
    {"llx llX", "long long", is_of_size<8>},
    {"Le LE Lf Lg LG", "long double", is_long_double},
    {"p", kAddress, is_address},
    {"P", "uint16_t", is_exactly<2, false>},
    {"s S", kText, is_text},
    {"T Y", "int64_t", is_word},
};

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

const ConversionRow* find_conversion(std::string_view name) {
  for (const ConversionRow& row : kConversions)
    if (has_word(row.names, name)) return &row;
  return nullptr;
}

// Walks a format beside the values that its conversions take: arguments of printf, keys of printa.
class FormatCheck {
 public:
  // `aggregated`: what %@ prints; null where there is no aggregation.
  FormatCheck(const Call& call, const Type* aggregated, Session& s)
      : s_(s), call_(call), aggregated_(aggregated), where_(call.arguments[0]->where) {}

  void add(const Expr& e) { values_.push_back({e.type, e.where, e.is_zero_constant && e.kind == ExprKind::Integer}); }
  void add(const Type* type, Location where) { values_.push_back({type, where}); }
  size_t used() const { return used_; }
  // The values that %s prints.
  const std::vector<size_t>& strings() const { return strings_; }

  bool run(const std::string& format) {
    std::vector<Conversion> conversions;
    std::string reason;
    if (format.empty()) return fail(Tag::D_PRINTF_FMT_EMPTY, where_, fmt::format("{}( ) format string is empty", call_.name));
    if (!parse_format(format, conversions, reason))
      return fail(Tag::D_PRINTF_FMT, where_, fmt::format("{}( ) {}", call_.name, reason));
    for (const Conversion& c : conversions)
      if (!check(c)) return false;
    return true;
  }

 private:
  struct FormatArgument {
    const Type* type;
    Location where;
    bool is_null = false;
  };

  bool fail(Tag tag, Location where, std::string message, std::vector<std::string> hints = {}) {
    s_.error(tag, where, std::move(message), std::move(hints));
    return false;
  }

  // An address of a string in the process, for a conversion that takes the string.
  static std::vector<std::string> hints(const ConversionRow& row, const FormatArgument& v) {
    if (row.accepts != is_text || !(is_pointer(v.type) || is_word(v.type))) return {};
    return {"copyinstr(address) reads the string at an address of the process"};
  }

  bool check(const Conversion& c) {
    number_++;
    if (c.dynamic_width && !dynamic(c, "*")) return false;
    if (c.dynamic_precision && !dynamic(c, ".*")) return false;
    const ConversionRow* row = find_conversion(c.name);
    if (!row)
      return fail(Tag::D_PRINTF_FMT, where_,
                  fmt::format("{}( ) format conversion #{} is undefined: %{}", call_.name, number_, c.name));
    return c.is_aggregation ? check_aggregated(c, *row) : check_value(c, *row);
  }

  bool check_aggregated(const Conversion& c, const ConversionRow& row) {
    if (!aggregated_)
      return fail(Tag::D_PRINTF_AGG_CONV, where_,
                  fmt::format("%@ conversion requires an aggregation and is not for use with {}( )", call_.name));
    return check_type(c, row, {aggregated_, where_}, "aggregating action");
  }

  bool check_value(const Conversion& c, const ConversionRow& row) {
    if (used_ == values_.size())
      return fail(Tag::D_PRINTF_ARG_PROTO, where_,
                  fmt::format("{}( ) prototype mismatch: conversion #{} (%{}) is missing a corresponding value argument",
                              call_.name, number_, c.name));
    const FormatArgument& v = values_[used_++];
    if (!check_type(c, row, v, fmt::format("argument #{}", used_ + 1))) return false;
    if (c.letter == 's' || c.letter == 'S') strings_.push_back(used_ - 1);
    return true;
  }

  bool check_type(const Conversion& c, const ConversionRow& row, const FormatArgument& v, std::string_view what) {
    if (is_long_double(v.type))
      return fail(Tag::D_UNKNOWN, v.where,
                  fmt::format("{}( ) {} is a long double, which does not fit a register of DIF", call_.name, what));
    if ((row.accepts(v.type) || (v.is_null && row.accepts(s_.types.basic("int")))) && has_process(c, v.type)) return true;
    return fail(Tag::D_PRINTF_ARG_TYPE, v.where,
                fmt::format("{}( ) {} is incompatible with conversion #{} prototype:\n\tconversion: %{}\n\t prototype: "
                            "{}\n\t  argument: {}",
                            call_.name, what, number_, c.name, row.prototype, v.type->name),
                aggregated_ ? std::vector<std::string>() : hints(row, v));
  }

  // A bare address is one of $target; a symbol action records its process.
  bool has_process(const Conversion& c, const Type* type) const {
    return c.letter != 'A' || !is_address(type) || s_.options.macros.contains("target");
  }

  bool dynamic(const Conversion& c, const char* mark) {
    if (used_ == values_.size())
      return fail(Tag::D_PRINTF_DYN_PROTO, where_,
                  fmt::format("{}( ) prototype mismatch: conversion #{} (%{}) is missing a corresponding \"{}\" argument",
                              call_.name, number_, c.name, mark));
    const FormatArgument& v = values_[used_++];
    if (is_integer(v.type)) return true;
    return fail(Tag::D_PRINTF_DYN_TYPE, v.where,
                fmt::format("{}( ) argument #{} is incompatible with conversion #{} prototype:\n\tconversion: % {} {}\n\t "
                            "prototype: int\n\t  argument: {}",
                            call_.name, used_ + 1, number_, mark, c.name, v.type->name));
  }

  Session& s_;
  const Call& call_;
  const Type* aggregated_;
  Location where_;
  std::vector<FormatArgument> values_;
  std::vector<size_t> strings_;
  size_t used_ = 0;
  unsigned number_ = 0;
};

bool is_format(const Call& call, Session& s) {
  if (call.arguments.empty()) {
    s.error(Tag::D_PROTO_LEN, call.where, fmt::format("{} prototype mismatch: 0 args passed, at least 1 expected", spell(call)));
    return false;
  }
  return call.arguments[0]->kind == ExprKind::String || wrong_argument(Tag::D_PRINTF_ARG_FMT, call, 0, "string constant", s);
}

// Aggregations of one printa() must have the same keys.
bool same_keys(const Call& call, const AggregationSymbol& first, const AggregationSymbol& other, Session& s) {
  const auto count = [](const AggregationSymbol& a) {
    return fmt::format("@{} has {} key{}", a.desc.name, a.keys.size(), a.keys.size() == 1 ? "" : "s");
  };
  if (first.keys.size() != other.keys.size()) {
    s.error(Tag::D_PRINTA_AGGKEY, call.where,
            fmt::format("printa( ): @{} and @{} do not have matching key signatures: {}, {}", first.desc.name, other.desc.name,
                        count(first), count(other)));
    return false;
  }
  for (size_t i = 0; i < first.keys.size(); i++) {
    if (is_same_key(first.keys[i], other.keys[i])) continue;
    s.error(Tag::D_PRINTA_AGGPROTO, call.where,
            fmt::format("printa( ): @{1}[ ] key #{2} is incompatible with @{0}:\n{0:>9} key #{2}: {3}\n{1:>9} key #{2}: {4}",
                        first.desc.name, other.desc.name, i + 1, first.keys[i]->name, other.keys[i]->name));
    return false;
  }
  return true;
}

}  // namespace

bool check_printf(Call& call, CheckedAction& action, Session& s) {
  if (!is_format(call, s)) return false;
  action.format = as<String>(call.arguments[0].get())->value;
  action.has_format = true;
  FormatCheck check(call, nullptr, s);
  for (size_t i = 1; i < call.arguments.size(); i++) {
    const Expr& argument = *call.arguments[i];
    if (is_void(argument.type)) {
      s.error(Tag::D_PRINTF_ARG_TYPE, argument.where,
              fmt::format("{}( ) argument #{} has no value: it is of type void", call.name, i + 1));
      return false;
    }
    check.add(argument);
  }
  if (!check.run(action.format)) return false;
  for (const size_t i : check.strings()) {
    ExprPtr& argument = call.arguments[i + 1];
    if (argument->is_user) argument = convert(std::move(argument), s.types.basic("string"));
  }
  if (check.used() == call.arguments.size() - 1) return true;
  s.error(Tag::D_PRINTF_ARG_EXTRA, call.arguments[check.used() + 1]->where,
          fmt::format("{}( ) prototype mismatch: only {} arguments required by this format string", call.name, check.used() + 1));
  return false;
}

bool check_printa(Call& call, CheckedAction& action, Session& s) {
  const bool has_format = !call.arguments.empty() && call.arguments[0]->kind == ExprKind::String;
  if (call.arguments.empty()) return is_format(call, s);
  if (has_format && call.arguments.size() == 1) {
    s.error(Tag::D_PRINTA_PROTO, call.where, "printa( ) prototype mismatch: 1 arg passed, 2 expected");
    return false;
  }
  std::vector<AggregationSymbol*> list;
  for (size_t i = has_format ? 1 : 0; i < call.arguments.size(); i++) {
    AggregationSymbol* a = aggregation_argument(call, i, Tag::D_PRINTA_AGGARG, Tag::D_PRINTA_AGGBAD, s);
    if (!a) return false;
    list.push_back(a);
    action.aggregations.push_back(a->desc.id);
    if (!same_keys(call, *list[0], *a, s)) return false;
  }
  if (!has_format) return true;
  action.format = as<String>(call.arguments[0].get())->value;
  action.has_format = true;
  const bool counts = list[0]->desc.function == dif::Action::agg_count;
  FormatCheck check(call, s.types.basic(counts ? "uint64_t" : "int64_t"), s);
  for (const Type* key : list[0]->keys) check.add(key, call.arguments[0]->where);
  return check.run(action.format);
}

}  // namespace dvm::compiler
