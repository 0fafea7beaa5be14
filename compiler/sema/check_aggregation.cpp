// @name[keys] = function(value, ...): keys, parameters, and agreement with earlier uses. Tests: tests/golden/sema (err.D_AGG_*,
// err.D_LQUANT_*, err.D_LLQUANT_*).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {







  bool agree() {
    AggregationSymbol* known = s_.symbols.find_aggregation(target_.name);
    if (known) {
      if (!same_function(*known) || !same_keys(*known) || !same_parameters(*known)) return false;
    } else {
      known = &declare();
    }
    action_.kind = row_->id;
    action_.aggregations.push_back(known->desc.id);
    action_.key_count = static_cast<unsigned>(target_.keys.size());
    action_.parameters = parameters_;
    for (size_t i = 0; i < target_.keys.size(); i++) action_.args.push_back(convert(std::move(target_.keys[i]), known->keys[i]));
    move_values();
    return true;
  }

  // The aggregated value and the increment, as 64-bit integers.
  void move_values() {
    for (size_t i = 0; i < call_->arguments.size(); i++) {
      ExprPtr& argument = call_->arguments[i];
      if (std::find(constants_.begin(), constants_.end(), argument.get()) != constants_.end()) continue;
      const Type* wide = s_.types.basic(is_signed(argument->type) ? "int64_t" : "uint64_t");
      action_.args.push_back(convert(std::move(argument), wide));
    }
  }

  AggregationSymbol& declare() {
    AggregationSymbol a;
    a.desc.name = target_.name;
    a.desc.function = row_->id;
    a.desc.parameters = parameters_;
    for (const ExprPtr& key : target_.keys) {
      a.keys.push_back(key->type);
      a.desc.keys.push_back(data_type(key->type));
    }
    const bool has_value = !call_->arguments.empty();
    a.desc.value = data_type(s_.types.basic(has_value && is_signed(call_->arguments[0]->type) ? "int64_t" : "uint64_t"));
    a.line = s_.diagnostics.file().place(target_.where.begin).line;
    a.file = s_.diagnostics.file().source().name;
    return s_.symbols.add_aggregation(std::move(a));
  }

  bool same_function(const AggregationSymbol& known) {
    if (known.desc.function == row_->id) return true;
    return fail(Tag::D_AGG_REDEF, target_.where,
                fmt::format("aggregation redefined: @{0}\n\t current: @{0} = {1}( )\n\tprevious: @{0} = {2}( ) : line {3}",
                            target_.name, row_->name, dif::find_aggregation(known.desc.function)->name, known.line));
  }

  bool same_keys(const AggregationSymbol& known) {
    const size_t n = target_.keys.size();
    if (n != known.keys.size())
      return fail(Tag::D_PROTO_LEN, target_.where,
                  fmt::format("@{}[ ] prototype mismatch: {} key{} passed, {} expected", target_.name, n, n == 1 ? "" : "s",
                              known.keys.size()));
    for (size_t i = 0; i < n; i++) {
      if (is_same_key(known.keys[i], target_.keys[i]->type)) continue;
      return fail(Tag::D_PROTO_ARG, target_.keys[i]->where,
                  fmt::format("@{}[ ] key #{} is incompatible with prototype:\n\tprototype: {}\n\t      key: {}", target_.name,
                              i + 1, known.keys[i]->name, target_.keys[i]->type->name));
    }
    return true;
  }

  bool same_parameters(const AggregationSymbol& known) {
    struct Row {
      Tag tag;
      const char* what;
    };
    static constexpr Row kLinear[] = {
        {Tag::D_LQUANT_MATCHBASE, "base"}, {Tag::D_LQUANT_MATCHLIM, "limit"}, {Tag::D_LQUANT_MATCHSTEP, "step"}};
    static constexpr Row kLog[] = {{Tag::D_LLQUANT_MATCHFACTOR, "factor"},
                                   {Tag::D_LLQUANT_MATCHLMAG, "low magnitude"},
                                   {Tag::D_LLQUANT_MATCHHMAG, "high magnitude"},
                                   {Tag::D_LLQUANT_MATCHSTEPS, "linear steps per magnitude"}};
    const Row* rows = row_->id == dif::Action::agg_lquantize ? kLinear : kLog;
    for (size_t i = 0; i < parameters_.size(); i++)
      if (parameters_[i] != known.desc.parameters[i])
        return fail(rows[i].tag, target_.where,
                    fmt::format("{} {} (argument #{}) doesn't match previous declaration: expected {}, found {}", spell(),
                                rows[i].what, i + 1, known.desc.parameters[i], parameters_[i]));
    return true;
  }

  Session& s_;
  CheckedAction& action_;
  ExprContext context_;
  Aggregation& target_;
  Expr* value_;
  Call* call_ = nullptr;
  const dif::AggregationInfo* row_ = nullptr;
  std::vector<const Expr*> constants_;
  std::vector<int64_t> parameters_;
};

}  // namespace

bool is_same_key(const Type* a, const Type* b) {
  const auto is_number = [](const Type* t) { return is_integer(t) || cls(t) == TypeClass::pointer; };
  return &resolve(*a) == &resolve(*b) || (is_number(a) && is_number(b)) || (is_string_like(a) && is_string_like(b));
}

bool check_aggregation(Assign& assign, CheckedAction& action, Session& session) {
  if (AggregationCheck(assign, action, session).run()) return true;
  (void)session.is_new_unknown(dif::Scope::global, "@" + as<Aggregation>(assign.target.get())->name);
  return false;
}

}  // namespace dvm::compiler
