// @name[keys] = function(value, ...): keys, parameters, and agreement with earlier uses. Tests: tests/golden/sema (err.D_AGG_*,
// err.D_LQUANT_*, err.D_LLQUANT_*).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_types.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/instruction.h"

namespace dvm::compiler {

namespace {

constexpr int64_t kMaxLevels = 65535;

class AggregationCheck {
 public:
  AggregationCheck(Assign& assign, CheckedAction& action, Session& s)
      : s_(s), action_(action), checker_(s), target_(*as<Aggregation>(assign.target.get())), value_(assign.value.get()) {}

  bool run() {
    call_ = as<Call>(value_);
    row_ = call_ ? find_by_name(dif::kAggregations, call_->name) : nullptr;
    if (!row_) return not_a_function();
    return keys() && arguments() && parameters() && agree();
  }

 private:
  bool fail(Tag tag, Location where, std::string message) {
    s_.error(tag, where, std::move(message));
    return false;
  }
  std::string spell() const { return call_->name + "( )"; }

  bool not_a_function() {
    ExprPtr copy = clone(*value_);
    if (call_ && !find_by_name(dif::kActions, call_->name) && !checker_.check_value(copy)) return false;
    return fail(Tag::D_AGG_FUNC, value_->where,
                fmt::format("@{} must be assigned the result of an aggregating function", target_.name));
  }

  bool keys() {
    if (target_.keys.size() > dif::kTupleDepth)
      return fail(Tag::D_PROTO_LEN, target_.where,
                  fmt::format("@{}[ ] has too many keys: at most {} are possible", target_.name, dif::kTupleDepth));
    for (size_t i = 0; i < target_.keys.size(); i++) {
      ExprPtr& key = target_.keys[i];
      if (!checker_.check_value(key)) return false;
      if (!is_key(key->type))
        return fail(Tag::D_KEY_TYPE, key->where,
                    fmt::format("{} expression may not be used as @{}[ ] index: key #{}", key->type->name, target_.name, i + 1));
    }
    return true;
  }

  // Prototypes as in aggregations.def: int is a value, const an integer constant.
  bool arguments() {
    std::string_view prototype = row_->arguments;
    std::vector<bool> constants;
    size_t required = 0;
    while (!prototype.empty()) {
      std::string_view word = prototype.substr(0, prototype.find(' '));
      prototype.remove_prefix(std::min(prototype.size(), word.size() + 1));
      constants.push_back(word.starts_with("const"));
      if (!word.ends_with('?')) required = constants.size();
    }
    const size_t n = call_->arguments.size();
    if (n < required || n > constants.size())
      return fail(Tag::D_PROTO_LEN, call_->where,
                  fmt::format("{} prototype mismatch: {} arg{} passed, {}{} expected", spell(), n, n == 1 ? "" : "s",
                              required < constants.size() ? "at least " : "", required));
    // The value and the increment are recorded; constants go with the aggregation.
    for (size_t i = 0; i < n; i++) {
      ExprPtr& argument = call_->arguments[i];
      if (!checker_.check_value(argument)) return false;
      if (constants[i])
        constants_.push_back(argument.get());
      else if (!is_integer(argument->type) && !is_pointer(argument->type))
        return fail(Tag::D_AGG_SCALAR, argument->where, fmt::format("{} argument #{} must be of scalar type", spell(), i + 1));
    }
    return true;
  }

  bool constant(size_t i, int64_t& value, Tag type_tag, Tag value_tag, int64_t min, int64_t max, const char* size) {
    if (!ExprChecker::constant(*constants_[i], value))
      return fail(type_tag, constants_[i]->where, fmt::format("{} argument #{} must be an integer constant", spell(), i + 2));
    if (value < min || value > max)
      return fail(value_tag, constants_[i]->where, fmt::format("{} argument #{} must be a {}", spell(), i + 2, size));
    parameters_.push_back(value);
    return true;
  }

  bool parameters() {
    if (row_->id == dif::Action::agg_lquantize) return linear();
    if (row_->id == dif::Action::agg_llquantize) return log_linear();
    return true;
  }

  bool linear() {
    int64_t base = 0, limit = 0, step = 1;
    if (!constant(0, base, Tag::D_LQUANT_BASETYPE, Tag::D_LQUANT_BASEVAL, INT32_MIN, INT32_MAX, "32-bit quantity")) return false;
    if (!constant(1, limit, Tag::D_LQUANT_LIMTYPE, Tag::D_LQUANT_LIMVAL, INT32_MIN, INT32_MAX, "32-bit quantity")) return false;
    if (limit <= base)
      return fail(Tag::D_LQUANT_MISMATCH, constants_[0]->where,
                  "lquantize( ) base (argument #1) must be less than limit (argument #2)");
    if (constants_.size() < 3)
      parameters_.push_back(step);
    else if (!constant(2, step, Tag::D_LQUANT_STEPTYPE, Tag::D_LQUANT_STEPVAL, 1, UINT16_MAX, "16-bit quantity"))
      return false;
    const Location where = constants_.back()->where;
    if (step > limit - base)
      return fail(Tag::D_LQUANT_STEPLARGE, where,
                  "lquantize( ) step (argument #3) too large: must leave at least one level between base and limit");
    const int64_t levels = (limit - base) / step;
    if (levels > kMaxLevels)
      return fail(Tag::D_LQUANT_STEPSMALL, where,
                  fmt::format("lquantize( ) step (argument #3) too small: must be at least {}", (limit - base) / kMaxLevels + 1));
    return true;
  }

  bool log_linear() {
    int64_t factor = 0, low = 0, high = 0, steps = 0;
    if (!constant(0, factor, Tag::D_LLQUANT_FACTORTYPE, Tag::D_LLQUANT_FACTORVAL, 2, UINT16_MAX, "16-bit quantity of at least 2"))
      return false;
    if (!constant(1, low, Tag::D_LLQUANT_LMAGTYPE, Tag::D_LLQUANT_LMAGVAL, 0, UINT16_MAX, "16-bit quantity")) return false;
    if (!constant(2, high, Tag::D_LLQUANT_HMAGTYPE, Tag::D_LLQUANT_HMAGVAL, 0, UINT16_MAX, "16-bit quantity")) return false;
    if (!constant(3, steps, Tag::D_LLQUANT_STEPTYPE, Tag::D_LLQUANT_STEPVAL, 1, UINT16_MAX, "16-bit quantity")) return false;
    if (high < low)
      return fail(Tag::D_LLQUANT_HMAGVAL, constants_[2]->where,
                  "llquantize( ) high magnitude (argument #4) must be at least the low magnitude (argument #3)");
    double top = 1;
    for (int64_t i = 0; i <= high && top < 1e30; i++) top *= static_cast<double>(factor);
    if (top > 9.2e18)
      return fail(Tag::D_LLQUANT_HMAGVAL, constants_[2]->where,
                  "llquantize( ) factor (argument #2) to the power of the high magnitude (argument #4) overflows 64 bits");
    if (steps < factor || steps % factor != 0)
      return fail(Tag::D_LLQUANT_STEPVAL, constants_[3]->where,
                  "llquantize( ) steps (argument #5) must be a multiple of the factor (argument #2)");
    if (!splits_evenly(factor, low, high, steps))
      return fail(Tag::D_LLQUANT_STEPVAL, constants_[3]->where,
                  "llquantize( ) steps (argument #5) must divide each magnitude evenly");
    if ((high - low + 1) * steps > kMaxLevels)
      return fail(Tag::D_LLQUANT_STEPVAL, constants_[3]->where, "llquantize( ) has too many levels");
    return true;
  }

  // Magnitudes of more values than steps are cut into steps.
  static bool splits_evenly(int64_t factor, int64_t low, int64_t high, int64_t steps) {
    int64_t power = 1;
    for (int64_t m = 0; m <= high; m++) {
      power *= factor;
      if (m >= low && power > steps && power % steps != 0) return false;
    }
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
    a.line = s_.diagnostics.file().line(target_.where.begin);
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
      if (checker_.is_compatible(known.keys[i], *target_.keys[i])) continue;
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
    static constexpr Row kLinear[] = {{Tag::D_LQUANT_MATCHBASE, "base (argument #1)"},
                                      {Tag::D_LQUANT_MATCHLIM, "limit (argument #2)"},
                                      {Tag::D_LQUANT_MATCHSTEP, "step (argument #3)"}};
    static constexpr Row kLog[] = {{Tag::D_LLQUANT_MATCHFACTOR, "factor (argument #2)"},
                                   {Tag::D_LLQUANT_MATCHLMAG, "low magnitude (argument #3)"},
                                   {Tag::D_LLQUANT_MATCHHMAG, "high magnitude (argument #4)"},
                                   {Tag::D_LLQUANT_MATCHSTEPS, "steps (argument #5)"}};
    const Row* rows = row_->id == dif::Action::agg_lquantize ? kLinear : kLog;
    for (size_t i = 0; i < parameters_.size(); i++)
      if (parameters_[i] != known.desc.parameters[i])
        return fail(rows[i].tag, target_.where,
                    fmt::format("{} {} does not match previous declaration at line {}", spell(), rows[i].what, known.line));
    return true;
  }

  Session& s_;
  CheckedAction& action_;
  ExprChecker checker_;
  Aggregation& target_;
  Expr* value_;
  Call* call_ = nullptr;
  const dif::AggregationInfo* row_ = nullptr;
  std::vector<const Expr*> constants_;
  std::vector<int64_t> parameters_;
};

}  // namespace

bool check_aggregation(Assign& assign, CheckedAction& action, Session& session) {
  return AggregationCheck(assign, action, session).run();
}

}  // namespace dvm::compiler
