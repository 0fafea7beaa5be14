// Calls: subroutines by the rows of subroutines.def. Actions and aggregating functions have no value and belong elsewhere.
// Tests: tests/golden/sema.
#include <fmt/format.h>

#include <algorithm>

#include "common/similar.h"
#include "compiler/sema/check_types.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

namespace {

std::string mismatch(const std::string& what, size_t count, const Prototype& p) {
  return fmt::format("{} prototype mismatch: {} arg{} passed, {}{} expected", what, count, count == 1 ? "" : "s",
                     p.required < p.types.size() ? "at least " : "", p.required);
}

}  // namespace

bool ExprChecker::check_prototype(const std::string& what, std::string_view prototype, std::vector<ExprPtr>& arguments,
                                  Location where) {
  const Prototype p = parse_prototype(prototype, s_.types);
  if (arguments.size() < p.required || arguments.size() > p.types.size()) {
    s_.error(Tag::D_PROTO_LEN, where, mismatch(what, arguments.size(), p));
    return false;
  }
  for (size_t i = 0; i < arguments.size(); i++) {
    ExprPtr& argument = arguments[i];
    if (is_error(argument->type)) return false;
    if (!p.types[i]) continue;
    if (!is_compatible(p.types[i], *argument)) {
      s_.error(Tag::D_PROTO_ARG, argument->where,
               fmt::format("{} argument #{} is incompatible with prototype:\n\tprototype: {}\n\t argument: {}", what, i + 1,
                           p.types[i]->name, argument->type->name));
      return false;
    }
    argument = convert(std::move(argument), p.types[i]);
  }
  return true;
}

ExprPtr ExprChecker::check(Call& e) {
  if (find_by_name(dif::kActions, e.name) || find_by_name(dif::kAggregations, e.name)) {
    nested_action_ = &e;
    e.type = s_.types.basic("void");
    return nullptr;
  }
  const dif::SubroutineInfo* row = find_by_name(dif::kSubroutines, e.name);
  if (!row) {
    std::vector<std::string> hints;
    if (s_.symbols.find(dif::Scope::global, e.name)) {
      fail(e, Tag::D_FUNC_IDENT, fmt::format("{} is not a function", e.name));
      return nullptr;
    }
    for (const std::string& n : similar_names(e.name, function_names())) hints.push_back(fmt::format("did you mean '{}()'?", n));
    fail(e, Tag::D_FUNC_UNDEF, fmt::format("undefined function name: {}", e.name), std::move(hints));
    return nullptr;
  }
  for (ExprPtr& argument : e.arguments) check(argument);
  if (has_error(e.arguments)) {
    fail(e);
  } else if (!row->unsupported.empty()) {
    fail(e, Tag::D_UNKNOWN, fmt::format("{}( ) is not available in dvm: {}", e.name, row->unsupported));
  } else if (!check_prototype(e.name + "( )", row->arguments, e.arguments, e.where)) {
    fail(e);
  } else {
    e.subroutine = static_cast<unsigned>(row->id);
    e.type = prototype_type(row->result, s_.types);
  }
  return nullptr;
}

}  // namespace dvm::compiler
