// @name[keys] = function(value, ...): keys, arguments, and agreement with earlier uses. Tests: tests/golden/sema (err.D_AGG_*).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/aggregation_check.h"
#include "compiler/sema/check_action.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

bool fail(AggregationCheck& c, Tag tag, Location where, std::string message, std::vector<std::string> hints) {
  c.session.error(tag, where, std::move(message), std::move(hints));
  return false;
}

namespace {

bool not_a_function(AggregationCheck& c) {
  ExprPtr copy = clone(*c.value);
  if (c.call && !find_visible(dif::kActions, c.call->name, c.session) && !check_value(c.context, copy)) return false;
  return fail(c, Tag::D_AGG_FUNC, c.value->where,
              fmt::format("@{} must be assigned the result of an aggregating function", c.target.name),
              {"a variable or array, named without @, holds values"});
}

// Everything that has a value may be a key, and what a stack action records.
bool check_key(AggregationCheck& c, ExprPtr& e, size_t number) {
  if (auto* call = as<Call>(e.get()); call && is_key_action(call->name) && !is_hidden(call->name, c.session))
    return check_key_action(*call, c.session);
  if (!check_value(c.context, e)) return false;
  if (const Call* nested = c.context.nested_action) return fail_in_expression(*nested, c.session);
  if (!is_void(e->type) && cls(e->type) != TypeClass::function) return true;
  return fail(c, Tag::D_KEY_TYPE, e->where,
              fmt::format("{} expression may not be used as aggregation index: key #{}", e->type->name, number));
}

bool check_keys(AggregationCheck& c) {
  if (c.target.keys.size() > dif::kTupleDepth)
    return fail(c, Tag::D_PROTO_LEN, c.target.where,
                fmt::format("@{}[ ] has too many keys: at most {} are possible", c.target.name, dif::kTupleDepth));
  for (size_t i = 0; i < c.target.keys.size(); i++)
    if (!check_key(c, c.target.keys[i], i + 1)) return false;
  return true;
}

// Prototypes as in aggregations.def: int is a value, const an integer constant.
bool check_arguments(AggregationCheck& c) {
  const dif::ArgumentList& prototype = c.row->arguments;
  const size_t n = c.call->arguments.size();
  if (!check_count(*c.call, {prototype.required(), prototype.size()}, Tag::D_PROTO_LEN, c.session)) return false;
  // The value and the increment are recorded; constants go with the aggregation.
  for (size_t i = 0; i < n; i++) {
    ExprPtr& argument = c.call->arguments[i];
    if (!check_value(c.context, argument)) return false;
    if (prototype[i].type == dif::ArgumentType::constant)
      c.constants.push_back(argument.get());
    else if (i == 0 && !is_scalar(argument->type))
      return fail(c, Tag::D_AGG_SCALAR, argument->where, fmt::format("{} argument #1 must be of scalar type", spell(*c.call)));
    else if (!is_scalar(argument->type))
      return fail(c, Tag::D_PROTO_ARG, argument->where,
                  fmt::format("{} increment value (argument #{}) must be of scalar type", spell(*c.call), i + 1));
  }
  return true;
}

// The aggregated value and the increment, as 64-bit integers.
void move_values(AggregationCheck& c) {
  for (size_t i = 0; i < c.call->arguments.size(); i++) {
    ExprPtr& argument = c.call->arguments[i];
    if (std::find(c.constants.begin(), c.constants.end(), argument.get()) != c.constants.end()) continue;
    const Type* wide = c.session.types.basic(is_signed(argument->type) ? "int64_t" : "uint64_t");
    c.action.args.push_back(convert(std::move(argument), wide));
  }
}

AggregationSymbol& declare(AggregationCheck& c) {
  AggregationSymbol a;
  a.desc.name = c.target.name;
  a.desc.function = c.row->id;
  a.desc.parameters = c.parameters;
  for (const ExprPtr& key : c.target.keys) {
    a.keys.push_back(key->type);
    a.desc.keys.push_back(data_type(key->type));
  }
  const bool has_value = !c.call->arguments.empty();
  a.desc.value = data_type(c.session.types.basic(has_value && is_signed(c.call->arguments[0]->type) ? "int64_t" : "uint64_t"));
  a.line = c.session.diagnostics.file().place(c.target.where.begin).line;
  a.file = c.session.diagnostics.file().source().name;
  return c.session.symbols.add_aggregation(std::move(a));
}

bool same_function(AggregationCheck& c, const AggregationSymbol& known) {
  if (known.desc.function == c.row->id) return true;
  return fail(c, Tag::D_AGG_REDEF, c.target.where,
              fmt::format("aggregation redefined: @{0}\n\t current: @{0} = {1}( )\n\tprevious: @{0} = {2}( ) : line {3}",
                          c.target.name, c.row->name, dif::find_aggregation(known.desc.function)->name, known.line));
}

bool same_keys(AggregationCheck& c, const AggregationSymbol& known) {
  const size_t n = c.target.keys.size();
  if (n != known.keys.size())
    return fail(c, Tag::D_PROTO_LEN, c.target.where,
                fmt::format("@{}[ ] prototype mismatch: {} key{} passed, {} expected", c.target.name, n, n == 1 ? "" : "s",
                            known.keys.size()));
  for (size_t i = 0; i < n; i++) {
    if (is_same_key(known.keys[i], c.target.keys[i]->type)) continue;
    return fail(c, Tag::D_PROTO_ARG, c.target.keys[i]->where,
                fmt::format("@{}[ ] key #{} is incompatible with prototype:\n\tprototype: {}\n\t      key: {}", c.target.name,
                            i + 1, known.keys[i]->name, c.target.keys[i]->type->name));
  }
  return true;
}

struct ParameterTag {
  Tag tag;
  const char* what;
};
constexpr ParameterTag kLinear[] = {
    {Tag::D_LQUANT_MATCHBASE, "base"}, {Tag::D_LQUANT_MATCHLIM, "limit"}, {Tag::D_LQUANT_MATCHSTEP, "step"}};
constexpr ParameterTag kLogLinear[] = {{Tag::D_LLQUANT_MATCHFACTOR, "factor"},
                                       {Tag::D_LLQUANT_MATCHLMAG, "low magnitude"},
                                       {Tag::D_LLQUANT_MATCHHMAG, "high magnitude"},
                                       {Tag::D_LLQUANT_MATCHSTEPS, "linear steps per magnitude"}};

bool same_parameters(AggregationCheck& c, const AggregationSymbol& known) {
  const ParameterTag* tags = c.row->id == dif::Action::agg_lquantize ? kLinear : kLogLinear;
  for (size_t i = 0; i < c.parameters.size(); i++)
    if (c.parameters[i] != known.desc.parameters[i])
      return fail(c, tags[i].tag, c.target.where,
                  fmt::format("{} {} (argument #{}) doesn't match previous declaration: expected {}, found {}", spell(*c.call),
                              tags[i].what, i + 1, known.desc.parameters[i], c.parameters[i]));
  return true;
}

bool agree(AggregationCheck& c) {
  AggregationSymbol* known = c.session.symbols.find_aggregation(c.target.name);
  if (known) {
    if (!same_function(c, *known) || !same_keys(c, *known) || !same_parameters(c, *known)) return false;
  } else {
    known = &declare(c);
  }
  c.action.kind = c.row->id;
  c.action.aggregations.push_back(known->desc.id);
  c.action.key_count = static_cast<unsigned>(c.target.keys.size());
  c.action.parameters = c.parameters;
  for (size_t i = 0; i < c.target.keys.size(); i++) c.action.args.push_back(convert(std::move(c.target.keys[i]), known->keys[i]));
  move_values(c);
  return true;
}

bool check(AggregationCheck& c) {
  c.call = as<Call>(c.value);
  c.row = c.call ? find_visible(dif::kAggregations, c.call->name, c.session) : nullptr;
  if (!c.row) return not_a_function(c);
  return check_keys(c) && check_arguments(c) && check_quantize_parameters(c) && agree(c);
}

}  // namespace

bool is_same_key(const Type* a, const Type* b) {
  const auto is_number = [](const Type* t) { return is_integer(t) || cls(t) == TypeClass::pointer; };
  return &resolve(*a) == &resolve(*b) || (is_number(a) && is_number(b)) || (is_string_like(a) && is_string_like(b)) ||
         (is_stack(a) && is_stack(b));
}

bool check_aggregation(Assign& assign, CheckedAction& action, Session& session) {
  AggregationCheck c(assign, action, session);
  if (check(c)) return true;
  (void)session.is_new_unknown(dif::Scope::global, "@" + as<Aggregation>(assign.target.get())->name);
  return false;
}

}  // namespace dvm::compiler
