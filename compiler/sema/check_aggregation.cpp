// @name[keys] = function(value, ...): keys, parameters, and agreement with earlier uses. Tests: tests/golden/sema (err.D_AGG_*,
// err.D_LQUANT_*, err.D_LLQUANT_*).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/instruction.h"

namespace dvm::compiler {

namespace {

constexpr int64_t kMaxLevels = 65535;

class AggregationCheck {
 public:
  AggregationCheck(Assign& assign, CheckedAction& action, Session& s)
      : s_(s), action_(action), context_(s), target_(*as<Aggregation>(assign.target.get())), value_(assign.value.get()) {}

  bool run() {
    call_ = as<Call>(value_);
    row_ = call_ ? find_by_name(dif::kAggregations, call_->name) : nullptr;
    if (!row_) return not_a_function();
    return keys() && arguments() && parameters() && agree();
  }

 private:
  bool fail(Tag tag, Location where, std::string message, std::vector<std::string> hints = {}) {
    s_.error(tag, where, std::move(message), std::move(hints));
    return false;
  }
  std::string spell() const { return compiler::spell(*call_); }

  bool not_a_function() {
    ExprPtr copy = clone(*value_);
    if (call_ && !find_by_name(dif::kActions, call_->name) && !check_value(context_, copy)) return false;
    return fail(Tag::D_AGG_FUNC, value_->where,
                fmt::format("@{} must be assigned the result of an aggregating function", target_.name));
  }

  bool keys() {
    if (target_.keys.size() > dif::kTupleDepth)
      return fail(Tag::D_PROTO_LEN, target_.where,
                  fmt::format("@{}[ ] has too many keys: at most {} are possible", target_.name, dif::kTupleDepth));
    for (size_t i = 0; i < target_.keys.size(); i++)
      if (!key(target_.keys[i], i + 1)) return false;
    return true;
  }

  // Everything that has a value may be a key, and what a stack action records.
  bool key(ExprPtr& e, size_t number) {
    if (auto* call = as<Call>(e.get()); call && is_key_action(call->name)) return check_key_action(*call, s_);
    if (!check_value(context_, e)) return false;
    if (const Call* nested = context_.nested_action) return fail_in_expression(*nested, s_);
    if (!is_void(e->type) && cls(e->type) != TypeClass::function) return true;
    return fail(Tag::D_KEY_TYPE, e->where,
                fmt::format("{} expression may not be used as aggregation index: key #{}", e->type->name, number));
  }

  // Prototypes as in aggregations.def: int is a value, const an integer constant.
  bool arguments() {
    const dif::ArgumentList& prototype = row_->arguments;
    const size_t n = call_->arguments.size();
    if (!check_count(*call_, {prototype.required(), prototype.size()}, Tag::D_PROTO_LEN, s_)) return false;
    // The value and the increment are recorded; constants go with the aggregation.
    for (size_t i = 0; i < n; i++) {
      ExprPtr& argument = call_->arguments[i];
      if (!check_value(context_, argument)) return false;
      if (prototype[i].type == dif::ArgumentType::constant)
        constants_.push_back(argument.get());
      else if (i == 0 && !is_scalar(argument->type))
        return fail(Tag::D_AGG_SCALAR, argument->where, fmt::format("{} argument #1 must be of scalar type", spell()));
      else if (!is_scalar(argument->type))
        return fail(Tag::D_PROTO_ARG, argument->where,
                    fmt::format("{} increment value (argument #{}) must be of scalar type", spell(), i + 1));
    }
    return true;
  }

  // The constants count from 1 behind the value, in messages too.
  bool constant(size_t i, int64_t& value, Tag tag, std::string_view name) {
    if (compiler::constant(*constants_[i], value)) return true;
    return fail(tag, constants_[i]->where, fmt::format("{} argument #{}{} must be an integer constant", spell(), i + 1, name));
  }

  bool in_32_bits(size_t i, int64_t value, Tag tag) {
    if (value >= INT32_MIN && value <= INT32_MAX) return true;
    return fail(tag, constants_[i]->where, fmt::format("{} argument #{} must be a 32-bit quantity", spell(), i + 1));
  }

  bool parameters() {
    if (row_->id == dif::Action::agg_lquantize) return linear();
    if (row_->id == dif::Action::agg_llquantize) return log_linear();
    return true;
  }

  bool linear() {
    int64_t base = 0, limit = 0, step = 1;
    if (!constant(0, base, Tag::D_LQUANT_BASETYPE, "") || !in_32_bits(0, base, Tag::D_LQUANT_BASEVAL)) return false;
    if (!constant(1, limit, Tag::D_LQUANT_LIMTYPE, "") || !in_32_bits(1, limit, Tag::D_LQUANT_LIMVAL)) return false;
    if (limit < base)
      return fail(Tag::D_LQUANT_MISMATCH, constants_[0]->where,
                  "lquantize( ) base (argument #1) must be less than limit (argument #2)");
    if (constants_.size() > 2 && !linear_step(step)) return false;
    const int64_t levels = (limit - base) / step;
    if (levels == 0)
      return fail(Tag::D_LQUANT_STEPLARGE, constants_.back()->where,
                  "lquantize( ) step (argument #3) too large: must have at least one quantization level");
    if (levels > kMaxLevels)
      return fail(Tag::D_LQUANT_STEPSMALL, constants_.back()->where,
                  "lquantize( ) step (argument #3) too small: number of quantization levels must be a 16-bit quantity",
                  {fmt::format("a step of {} is large enough", (limit - base) / kMaxLevels + 1)});
    parameters_ = {base, limit, step};
    return true;
  }

  bool linear_step(int64_t& step) {
    const Expr& e = *constants_[2];
    if (!positive_constant(e, step))
      return fail(Tag::D_LQUANT_STEPTYPE, e.where, "lquantize( ) argument #3 must be a non-zero positive integer constant");
    if (step <= UINT16_MAX) return true;
    return fail(Tag::D_LQUANT_STEPVAL, e.where, "lquantize( ) argument #3 must be a 16-bit quantity");
  }

  bool log_linear() {
    struct Row {
      const char* name;
      Tag type, value;
    };
    static constexpr Row kRows[] = {
        {" (factor)", Tag::D_LLQUANT_FACTORTYPE, Tag::D_LLQUANT_FACTORVAL},
        {" (low magnitude)", Tag::D_LLQUANT_LMAGTYPE, Tag::D_LLQUANT_LMAGVAL},
        {" (high magnitude)", Tag::D_LLQUANT_HMAGTYPE, Tag::D_LLQUANT_HMAGVAL},
        {" (linear steps per magnitude)", Tag::D_LLQUANT_STEPTYPE, Tag::D_LLQUANT_STEPVAL},
    };
    for (size_t i = 0; i < std::size(kRows); i++) {
      int64_t value = 0;
      if (!constant(i, value, kRows[i].type, kRows[i].name)) return false;
      if (value < 0 || value > UINT16_MAX)
        return fail(kRows[i].value, constants_[i]->where,
                    fmt::format("llquantize( ) argument #{}{} must be an unsigned 16-bit quantity", i + 1, kRows[i].name));
      parameters_.push_back(value);
    }
    return magnitudes(parameters_[0], parameters_[1], parameters_[2]) && steps(parameters_[0], parameters_[3]);
  }

  bool magnitudes(int64_t factor, int64_t low, int64_t high) {
    if (factor < 2)
      return fail(Tag::D_LLQUANT_FACTORVAL, constants_[0]->where, "llquantize( ) factor (argument #1) must be two or more");
    if (high <= low)
      return fail(Tag::D_LLQUANT_MAGRANGE, constants_[2]->where,
                  "llquantize( ) high magnitude (argument #3) must be greater than low magnitude (argument #2)");
    double top = 1;
    for (int64_t i = 0; i <= high && top < 1e30; i++) top *= static_cast<double>(factor);
    if (top <= 9.2e18) return true;
    return fail(
        Tag::D_LLQUANT_HMAGVAL, constants_[2]->where,
        fmt::format("llquantize( ) factor ({}) raised to power of high magnitude ({}) plus 1 overflows 64-bits", factor, high));
  }

  bool steps(int64_t factor, int64_t steps) {
    const Location where = constants_[3]->where;
    if (steps < factor)
      return fail(Tag::D_LLQUANT_STEPVAL, where,
                  "llquantize( ) factor (argument #1) must be less than or equal to the number of linear steps per magnitude "
                  "(argument #4)");
    int64_t power = factor;
    while (power < steps) power *= factor;
    if (steps % factor != 0 || power % steps != 0)
      return fail(Tag::D_LLQUANT_STEPVAL, where,
                  "llquantize( ) factor (argument #1) must evenly divide the number of steps per magnitude (argument #4), and "
                  "the number of steps per magnitude must evenly divide a power of the factor");
    if ((parameters_[2] - parameters_[1] + 1) * steps > kMaxLevels)
      return fail(Tag::D_LLQUANT_STEPVAL, where, "llquantize( ) has too many levels");
    return true;
  }

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
