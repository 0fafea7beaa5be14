// Formats of printf() and printa() against their arguments. Tests: tests/golden/sema (err.D_PRINTF_*, err.D_PRINTA_*).
#include <fmt/format.h>

#include <cctype>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_types.h"
#include "compiler/sema/format.h"

namespace dvm::compiler {

namespace {

bool is_any_integer(const Type* t) { return is_integer(t); }
bool is_address(const Type* t) { return is_pointer(t) || is_integer(t); }
bool is_floating(const Type*) { return false; }

struct ConversionRow {
  std::string_view letters;
  std::string_view prototype;    // as messages name it; what is missing when dvm does not have the conversion
  bool (*accepts)(const Type*);  // nullptr: dvm does not have it
};
constexpr ConversionRow kConversions[] = {
    {"diouxX", "char, short, int, long, or long long", is_any_integer},
    {"cC", "char, short, or int", is_any_integer},
    {"eEfFgG", "float, double, or long double", is_floating},
    {"sS", "char [] or string (or use stringof)", is_string_like},
    {"p", "pointer or integer", is_address},
    {"YT", "int64_t", is_any_integer},
    {"aA", "addresses are not printed as symbols yet", nullptr},
    {"k", "stacks are not recorded yet", nullptr},
    {"IP", "network addresses are not printed yet", nullptr},
};

const ConversionRow* find_conversion(char letter) {
  for (const ConversionRow& row : kConversions)
    if (row.letters.find(letter) != std::string_view::npos) return &row;
  return nullptr;
}

// Walks a format beside the values that its conversions take: arguments of printf, keys of printa.
class FormatCheck {
 public:
  FormatCheck(const Call& call, bool aggregations, Session& s)
      : s_(s), call_(call), aggregations_(aggregations), where_(call.arguments[0]->where) {}

  void add(const Type* type, Location where) { values_.push_back({type, where}); }
  size_t used() const { return used_; }

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
  struct Value {
    const Type* type;
    Location where;
  };

  bool fail(Tag tag, Location where, std::string message) {
    s_.error(tag, where, std::move(message));
    return false;
  }
  const char* what() const { return aggregations_ ? "key" : "value"; }

  bool check(const Conversion& c) {
    number_++;
    if (c.dynamic_width && !dynamic(c, '*', "field width")) return false;
    if (c.dynamic_precision && !dynamic(c, '.', "precision")) return false;
    const ConversionRow* row = find_conversion(c.letter);
    if (!row)
      return fail(Tag::D_PRINTF_FMT, where_, fmt::format("{}( ) conversion #{} (%{}) is not known", call_.name, number_, c.name));
    if (!row->accepts)
      return fail(Tag::D_UNKNOWN, where_,
                  fmt::format("{}( ) conversion #{} (%{}) is not available: {}", call_.name, number_, c.name, row->prototype));
    return c.is_aggregation ? check_aggregation() : check_value(c, *row);
  }

  bool check_aggregation() {
    if (aggregations_) return true;
    return fail(Tag::D_PRINTF_AGG_CONV, where_,
                fmt::format("{}( ) %@ conversion requires an aggregation and is not for use with {}( )", call_.name, call_.name));
  }

  bool check_value(const Conversion& c, const ConversionRow& row) {
    if (used_ == values_.size())
      return fail(Tag::D_PRINTF_ARG_PROTO, where_,
                  fmt::format("{}( ) prototype mismatch: conversion #{} (%{}) is missing a corresponding {} argument", call_.name,
                              number_, c.name, what()));
    const Value& v = values_[used_++];
    if (row.accepts(v.type)) return true;
    return fail(Tag::D_PRINTF_ARG_TYPE, v.where,
                fmt::format("{}( ) argument #{} is incompatible with conversion #{} prototype:\n\tconversion: %{}\n\t prototype: "
                            "{}\n\t  argument: {}",
                            call_.name, used_ + 1, number_, c.name, row.prototype, v.type->name));
  }

  bool dynamic(const Conversion& c, char mark, const char* what) {
    if (used_ == values_.size())
      return fail(Tag::D_PRINTF_DYN_PROTO, where_,
                  fmt::format("{}( ) prototype mismatch: conversion #{} (%{}{}) is missing a corresponding {} argument",
                              call_.name, number_, mark, c.name, what));
    const Value& v = values_[used_++];
    if (is_integer(v.type)) return true;
    return fail(Tag::D_PRINTF_DYN_TYPE, v.where,
                fmt::format("{}( ) argument #{} is incompatible with conversion #{} prototype:\n\tconversion: %{}{}\n\t "
                            "prototype: int\n\t  argument: {}",
                            call_.name, used_ + 1, number_, mark, c.name, v.type->name));
  }

  Session& s_;
  const Call& call_;
  bool aggregations_;
  Location where_;
  std::vector<Value> values_;
  size_t used_ = 0;
  unsigned number_ = 0;
};

bool is_format(const Call& call, Session& s) {
  if (call.arguments.empty()) {
    s.error(Tag::D_PROTO_LEN, call.where, fmt::format("{}( ) prototype mismatch: 0 args passed, at least 1 expected", call.name));
    return false;
  }
  const Expr& first = *call.arguments[0];
  if (first.kind == ExprKind::String) return true;
  s.error(Tag::D_PRINTF_ARG_FMT, first.where,
          fmt::format("{}( ) argument #1 is incompatible with prototype:\n\tprototype: string constant\n\t argument: {}",
                      call.name, first.type->name));
  return false;
}

// Aggregations of one printa() must have the same keys.
bool same_keys(const Call& call, const std::vector<AggregationSymbol*>& list, Session& s) {
  for (size_t i = 1; i < list.size(); i++) {
    bool same = list[i]->keys.size() == list[0]->keys.size();
    for (size_t k = 0; same && k < list[i]->keys.size(); k++) same = is_string(list[i]->keys[k]) == is_string(list[0]->keys[k]);
    if (same) continue;
    s.error(Tag::D_PRINTA_AGGKEY, call.where,
            fmt::format("printa( ) keys of @{} do not match those of @{}", list[i]->desc.name, list[0]->desc.name));
    return false;
  }
  return true;
}

}  // namespace

bool check_printf(const Call& call, CheckedAction& action, Session& s) {
  if (!is_format(call, s)) return false;
  action.format = as<String>(call.arguments[0].get())->value;
  action.has_format = true;
  FormatCheck check(call, false, s);
  for (size_t i = 1; i < call.arguments.size(); i++) {
    const Expr& argument = *call.arguments[i];
    if (is_void(argument.type)) {
      s.error(Tag::D_PRINTF_ARG_TYPE, argument.where,
              fmt::format("{}( ) argument #{} has no value: it is of type void", call.name, i + 1));
      return false;
    }
    check.add(argument.type, argument.where);
  }
  if (!check.run(action.format)) return false;
  if (check.used() == call.arguments.size() - 1) return true;
  s.error(Tag::D_PRINTF_ARG_EXTRA, call.arguments[check.used() + 1]->where,
          fmt::format("{}( ) prototype mismatch: only {} arguments required by this format string", call.name, check.used() + 1));
  return false;
}

bool check_printa(Call& call, CheckedAction& action, Session& s) {
  const bool has_format = !call.arguments.empty() && call.arguments[0]->kind == ExprKind::String;
  if (call.arguments.size() < (has_format ? 2 : 1)) {
    s.error(Tag::D_PRINTA_PROTO, call.where,
            fmt::format("printa( ) prototype mismatch: {} arg{} passed, at least {} expected", call.arguments.size(),
                        call.arguments.size() == 1 ? "" : "s", has_format ? 2 : 1));
    return false;
  }
  std::vector<AggregationSymbol*> list;
  for (size_t i = has_format ? 1 : 0; i < call.arguments.size(); i++) {
    AggregationSymbol* a = aggregation_argument(call, i, Tag::D_PRINTA_AGGARG, s);
    if (!a) return false;
    list.push_back(a);
    action.aggregations.push_back(a->desc.id);
  }
  if (!same_keys(call, list, s)) return false;
  if (!has_format) return true;
  action.format = as<String>(call.arguments[0].get())->value;
  action.has_format = true;
  FormatCheck check(call, true, s);
  for (const Type* key : list[0]->keys) check.add(key, call.arguments[0]->where);
  return check.run(action.format);
}

}  // namespace dvm::compiler
