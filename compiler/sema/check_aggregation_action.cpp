// Actions on whole aggregations: clear, trunc, normalize, denormalize. Tests: tests/golden/sema.
#include <fmt/format.h>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/convert.h"

namespace dvm::compiler {

namespace {

struct Tags {
  Tag count, no_aggregation, undefined, no_scalar;
};

// An aggregation and, where there is a second argument, a scalar.
bool check(Call& call, CheckedAction& action, Arity arity, const Tags& tags, Session& s) {
  if (!check_count(call, arity, tags.count, s)) return false;
  const AggregationSymbol* a = aggregation_argument(call, 0, tags.no_aggregation, tags.undefined, s);
  if (!a) return false;
  action.aggregations.push_back(a->desc.id);
  if (call.arguments.size() == 1) return true;
  ExprPtr& value = call.arguments[1];
  ExprContext context(s);
  if (!check_value(context, value)) return false;
  if (!is_scalar(value->type)) {
    s.error(tags.no_scalar, value->where, fmt::format("{} argument #2 must be of scalar type", spell(call)));
    return false;
  }
  action.args.push_back(convert(std::move(value), s.types.basic("int64_t")));
  return true;
}

}  // namespace

bool check_clear(Call& call, CheckedAction& action, Session& s) {
  return check(call, action, {1, 1}, {Tag::D_CLEAR_PROTO, Tag::D_CLEAR_AGGARG, Tag::D_CLEAR_AGGBAD, Tag::D_CLEAR_AGGARG}, s);
}

bool check_normalize(Call& call, CheckedAction& action, Session& s) {
  const size_t count = action.kind == dif::Action::normalize ? 2 : 1;
  return check(call, action, {count, count},
               {Tag::D_NORMALIZE_PROTO, Tag::D_NORMALIZE_AGGARG, Tag::D_NORMALIZE_AGGBAD, Tag::D_NORMALIZE_SCALAR}, s);
}

bool check_trunc(Call& call, CheckedAction& action, Session& s) {
  return check(call, action, {1, 2}, {Tag::D_TRUNC_PROTO, Tag::D_TRUNC_AGGARG, Tag::D_TRUNC_AGGBAD, Tag::D_TRUNC_SCALAR}, s);
}

AggregationSymbol* aggregation_argument(const Call& call, size_t index, Tag no_aggregation, Tag undefined, Session& s) {
  const Expr& argument = *call.arguments[index];
  const auto* aggregation = as<Aggregation>(&argument);
  if (!aggregation || aggregation->has_keys) {
    ExprPtr copy = clone(argument);
    ExprContext context(s);
    if (!aggregation && !check_value(context, copy)) return nullptr;
    s.error(no_aggregation, argument.where,
            fmt::format("{} argument #{} is incompatible with prototype:\n\tprototype: aggregation\n\t argument: {}", spell(call),
                        index + 1, aggregation ? "aggregation with keys" : copy->type->name));
    return nullptr;
  }
  if (AggregationSymbol* known = s.symbols.find_aggregation(aggregation->name)) return known;
  if (s.is_new_unknown(dif::Scope::global, "@" + aggregation->name))
    s.error(undefined, argument.where, fmt::format("undefined aggregation: @{}", aggregation->name));
  return nullptr;
}

}  // namespace dvm::compiler
