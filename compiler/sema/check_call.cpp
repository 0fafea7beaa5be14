// Calls of subroutines. Tests: tests/golden/sema.
#include "compiler/sema/check_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/similar.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/foreign.h"
#include "compiler/sema/scratch.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/stability.h"
#include "dvm/dif/versions.h"

namespace dvm::compiler {

namespace {

std::string mismatch(const std::string& what, size_t count, const Prototype& p) {
  const size_t most = p.types.size();
  const char* bound = p.required == most ? "" : count < p.required ? "at least " : "at most ";
  return fmt::format("{} prototype mismatch: {} arg{} passed, {}{} expected", what, count, count == 1 ? "" : "s", bound,
                     count < p.required ? p.required : most);
}

bool check_alloca(ExprContext& c, const Call& e) {
  const uint64_t most = c.session.options.scratch_size;
  int64_t size = 0;
  if (e.arguments.empty() || !constant(*e.arguments[0], size) || static_cast<uint64_t>(size) <= most) return true;
  c.session.error(Tag::D_ALLOCA_SIZE, e.arguments[0]->where,
                  fmt::format("alloca({}) size larger than scratchsize {}", static_cast<uint64_t>(size), most));
  return false;
}

// What is written to is memory of D, not of the traced process, and no string.
bool check_scratch(ExprContext& c, const Call& e, size_t index) {
  if (index >= e.arguments.size()) return true;
  const Expr& to = *e.arguments[index];
  const bool is_address = is_pointer(to.type) || is_string(to.type);
  if (is_pointer(to.type) && !to.is_user && origin_of(to) != Origin::elsewhere) return true;
  c.session.error(
      Tag::D_PROTO_ARG, to.where,
      fmt::format("{}( ) argument #{} is incompatible with prototype:\n\tprototype: {}\n\t argument: {}", e.name, index + 1,
                  is_address ? "alloca pointer" : "void *", is_address ? "non-alloca pointer" : to.type->name));
  return false;
}

struct AddressArgument {
  dif::Subroutine subroutine;
  size_t index;
  std::string_view prototype, target;  // empty target: a record, which net.d defines only for scripts that name it
};
constexpr AddressArgument kAddressArguments[] = {{dif::Subroutine::inet_ntoa, 0, "ipaddr_t *", "uint32_t"},
                                                 {dif::Subroutine::inet_ntoa6, 0, "in6_addr_t *", ""},
                                                 {dif::Subroutine::inet_ntop, 1, "void *", "void"},
                                                 {dif::Subroutine::link_ntop, 1, "void *", "void"}};

bool leads_to(ExprContext& c, const Type* pointer, std::string_view target) {
  if (is_void(target_of(pointer))) return true;
  return target.empty() ? is_record(target_of(pointer)) : same_targets(c.types.pointer_to(c.types.basic(target)), pointer);
}

// The prototype of the table has an integer, which takes every address.
bool check_address(ExprContext& c, const Call& e, const AddressArgument& argument) {
  if (e.arguments.size() <= argument.index) return true;
  const Expr& actual = *e.arguments[argument.index];
  if (is_pointer(actual.type) ? leads_to(c, actual.type, argument.target) : actual.is_zero_constant) return true;
  std::vector<std::string> hints;
  if (is_address(actual.type) || is_integer(actual.type)) hints.push_back(fmt::format("cast it: ({})", argument.prototype));
  c.session.error(Tag::D_PROTO_ARG, actual.where,
                  fmt::format("{}( ) argument #{} is incompatible with prototype:\n\tprototype: {}\n\t argument: {}", e.name,
                              argument.index + 1, argument.prototype, actual.type->name),
                  std::move(hints));
  return false;
}

bool check_addresses(ExprContext& c, const Call& e, dif::Subroutine subroutine) {
  return std::all_of(std::begin(kAddressArguments), std::end(kAddressArguments), [&](const AddressArgument& argument) {
    return argument.subroutine != subroutine || check_address(c, e, argument);
  });
}

// The form of the text is chosen when the script is compiled.
bool check_form(ExprContext& c, const Call& e) {
  int64_t form = 0;
  if (e.arguments.size() < 2 || !is_integer(e.arguments[1]->type) || constant(*e.arguments[1], form)) return true;
  c.session.error(Tag::D_PROTO_ARG, e.arguments[1]->where, fmt::format("{}( ) argument #2 must be an integer constant", e.name));
  return false;
}

// A subroutine is given all 64 bits of an integer, of which it takes those that it needs.
const Type* passed_as(ExprContext& c, const Type* parameter, const Type* argument) {
  if (!is_integer(parameter) || !is_integer(argument)) return parameter;
  return c.types.basic(is_signed(argument) ? "int64_t" : "uint64_t");
}

bool check_scratches(ExprContext& c, const Call& e, dif::Subroutine subroutine) {
  return (subroutine != dif::Subroutine::copyinto || check_scratch(c, e, 2)) &&
         (subroutine != dif::Subroutine::bcopy || check_scratch(c, e, 1));
}

bool match(ExprContext& c, const std::string& what, const Prototype& p, const std::vector<ExprPtr>& arguments, Location where) {
  if (arguments.size() < p.required || arguments.size() > p.types.size()) {
    c.session.error(Tag::D_PROTO_LEN, where, mismatch(what, arguments.size(), p));
    return false;
  }
  for (size_t i = 0; i < arguments.size(); i++) {
    const ExprPtr& argument = arguments[i];
    if (is_error(argument->type)) return false;
    if (p.types[i] && !is_compatible(p.types[i], *argument)) {
      c.session.error(Tag::D_PROTO_ARG, argument->where,
                      fmt::format("{} argument #{} is incompatible with prototype:\n\tprototype: {}\n\t argument: {}", what,
                                  i + 1, p.types[i]->name, argument->type->name));
      return false;
    }
  }
  return true;
}

bool check_subroutine(ExprContext& c, Call& e, const dif::SubroutineInfo& row) {
  const Prototype p = prototype_of(row.arguments, c.types);
  if (!match(c, e.name + "( )", p, e.arguments, e.where)) return false;
  for (size_t i = 0; i < e.arguments.size(); i++) {
    if (!p.types[i]) continue;
    const Type* type = passed_as(c, p.types[i], e.arguments[i]->type);
    e.arguments[i] = convert(std::move(e.arguments[i]), type);
  }
  return true;
}

std::vector<std::string> hints_for_function(const std::string& name, Session& session) {
  if (is_hidden(name, session)) return {"version " + dif::print_version(dif::introduced_in(name)) + " of D introduced it"};
  std::vector<std::string> hints = word_hints(name);
  return hints.empty() ? near_hints(name, function_names(), "", "()") : hints;
}

}  // namespace

bool check_prototype(ExprContext& c, const std::string& what, const dif::ArgumentList& prototype, std::vector<ExprPtr>& arguments,
                     Location where) {
  const Prototype p = prototype_of(prototype, c.types);
  if (!match(c, what, p, arguments, where)) return false;
  for (size_t i = 0; i < arguments.size(); i++)
    if (p.types[i]) arguments[i] = convert(std::move(arguments[i]), p.types[i]);
  return true;
}

ExprPtr check(ExprContext& c, Call& e) {
  if (e.name == "ustack") return check_kept_stack(c, e);
  if (find_visible(dif::kActions, e.name, c.session) || find_visible(dif::kAggregations, e.name, c.session)) {
    c.nested_action = &e;
    e.type = c.types.basic("void");
    return nullptr;
  }
  const dif::SubroutineInfo* row = find_visible(dif::kSubroutines, e.name, c.session);
  if (!row) {
    if (const Symbol* symbol = c.symbols.find(dif::Scope::global, e.name)) {
      fail(c, e, Tag::D_FUNC_IDKIND,
           fmt::format("{} '{}' may not be referenced as a function", symbol->is_array ? "array" : "scalar", e.name));
      return nullptr;
    }
    if (const std::string_view reason = foreign_reason(e.name); !reason.empty()) {
      fail(c, e, Tag::D_UNKNOWN, fmt::format("{}( ) is not available in dvm: {}", e.name, reason));
      return nullptr;
    }
    fail(c, e, Tag::D_FUNC_UNDEF, fmt::format("undefined function name: {}", e.name), hints_for_function(e.name, c.session));
    return nullptr;
  }
  for (ExprPtr& argument : e.arguments) check(c, argument);
  if (has_error(e.arguments)) {
    fail(c, e);
  } else if (!is_stable_enough(c, e, e.name + "( )", dif::Attributes{})) {  // all are Stable/Stable/Common
    return nullptr;
  } else if (!row->unsupported.empty()) {
    fail(c, e, Tag::D_UNKNOWN, fmt::format("{}( ) is not available in dvm: {}", e.name, row->unsupported));
  } else if (row->id == dif::Subroutine::alloca && !check_alloca(c, e)) {
    fail(c, e);
  } else if (!check_scratches(c, e, row->id) || !check_addresses(c, e, row->id)) {
    fail(c, e);
  } else if (row->id == dif::Subroutine::inet_ntoa6 && !check_form(c, e)) {
    fail(c, e);
  } else if (!check_subroutine(c, e, *row)) {
    fail(c, e);
  } else {
    e.subroutine = static_cast<unsigned>(row->id);
    e.type = prototype_type(row->result, c.types);
  }
  return nullptr;
}

}  // namespace dvm::compiler
