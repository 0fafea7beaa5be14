// The parameters of lquantize and llquantize. Tests: tests/golden/sema (err.D_LQUANT_*, err.D_LLQUANT_*).
#include <fmt/format.h>

#include <iterator>

#include "compiler/sema/aggregation_check.h"
#include "compiler/sema/check_action.h"

namespace dvm::compiler {

namespace {

constexpr int64_t kMaxLevels = 65535;

// The constants count from 1 behind the value, in messages too.
bool constant_parameter(AggregationCheck& c, size_t i, int64_t& value, Tag tag, std::string_view name) {
  if (constant(*c.constants[i], value)) return true;
  return fail(c, tag, c.constants[i]->where,
              fmt::format("{} argument #{}{} must be an integer constant", spell(*c.call), i + 1, name));
}

bool in_32_bits(AggregationCheck& c, size_t i, int64_t value, Tag tag) {
  if (value >= INT32_MIN && value <= INT32_MAX) return true;
  return fail(c, tag, c.constants[i]->where, fmt::format("{} argument #{} must be a 32-bit quantity", spell(*c.call), i + 1));
}

bool check_linear_step(AggregationCheck& c, int64_t& step) {
  const Expr& e = *c.constants[2];
  if (!positive_constant(e, step))
    return fail(c, Tag::D_LQUANT_STEPTYPE, e.where, "lquantize( ) argument #3 must be a non-zero positive integer constant");
  if (step <= UINT16_MAX) return true;
  return fail(c, Tag::D_LQUANT_STEPVAL, e.where, "lquantize( ) argument #3 must be a 16-bit quantity");
}

bool check_linear(AggregationCheck& c) {
  int64_t base = 0, limit = 0, step = 1;
  if (!constant_parameter(c, 0, base, Tag::D_LQUANT_BASETYPE, "") || !in_32_bits(c, 0, base, Tag::D_LQUANT_BASEVAL)) return false;
  if (!constant_parameter(c, 1, limit, Tag::D_LQUANT_LIMTYPE, "") || !in_32_bits(c, 1, limit, Tag::D_LQUANT_LIMVAL)) return false;
  if (limit < base)
    return fail(c, Tag::D_LQUANT_MISMATCH, c.constants[0]->where,
                "lquantize( ) base (argument #1) must be less than limit (argument #2)");
  if (c.constants.size() > 2 && !check_linear_step(c, step)) return false;
  const int64_t levels = (limit - base) / step;
  if (levels == 0)
    return fail(c, Tag::D_LQUANT_STEPLARGE, c.constants.back()->where,
                "lquantize( ) step (argument #3) too large: must have at least one quantization level");
  if (levels > kMaxLevels)
    return fail(c, Tag::D_LQUANT_STEPSMALL, c.constants.back()->where,
                "lquantize( ) step (argument #3) too small: number of quantization levels must be a 16-bit quantity",
                {fmt::format("a step of {} is large enough", (limit - base) / kMaxLevels + 1)});
  c.parameters = {base, limit, step};
  return true;
}

bool check_magnitudes(AggregationCheck& c, int64_t factor, int64_t low, int64_t high) {
  if (factor < 2)
    return fail(c, Tag::D_LLQUANT_FACTORVAL, c.constants[0]->where, "llquantize( ) factor (argument #1) must be two or more");
  if (high <= low)
    return fail(c, Tag::D_LLQUANT_MAGRANGE, c.constants[2]->where,
                "llquantize( ) high magnitude (argument #3) must be greater than low magnitude (argument #2)");
  double top = 1;
  for (int64_t i = 0; i <= high && top < 1e30; i++) top *= static_cast<double>(factor);
  if (top <= 9.2e18) return true;
  return fail(
      c, Tag::D_LLQUANT_HMAGVAL, c.constants[2]->where,
      fmt::format("llquantize( ) factor ({}) raised to power of high magnitude ({}) plus 1 overflows 64-bits", factor, high));
}

bool check_steps(AggregationCheck& c, int64_t factor, int64_t steps) {
  const Location where = c.constants[3]->where;
  if (steps <= 0 || (steps < factor && factor % steps != 0))
    return fail(c, Tag::D_LLQUANT_STEPVAL, where,
                "llquantize() argument #4 (steps) must evenly divide argument #1 (factor) when steps<factor");
  int64_t power = factor;
  while (power < steps) power *= factor;
  if (steps >= factor && (steps % factor != 0 || power % steps != 0))
    return fail(c, Tag::D_LLQUANT_STEPVAL, where,
                "llquantize( ) factor (argument #1) must evenly divide the number of steps per magnitude (argument #4), and "
                "the number of steps per magnitude must evenly divide a power of the factor");
  if ((c.parameters[2] - c.parameters[1] + 1) * steps > kMaxLevels)
    return fail(c, Tag::D_LLQUANT_STEPVAL, where, "llquantize( ) has too many levels");
  return true;
}

struct ParameterTags {
  const char* name;
  Tag type, value;
};
constexpr ParameterTags kLogLinear[] = {
    {" (factor)", Tag::D_LLQUANT_FACTORTYPE, Tag::D_LLQUANT_FACTORVAL},
    {" (low magnitude)", Tag::D_LLQUANT_LMAGTYPE, Tag::D_LLQUANT_LMAGVAL},
    {" (high magnitude)", Tag::D_LLQUANT_HMAGTYPE, Tag::D_LLQUANT_HMAGVAL},
    {" (linear steps per magnitude)", Tag::D_LLQUANT_STEPTYPE, Tag::D_LLQUANT_STEPVAL},
};

bool check_log_linear(AggregationCheck& c) {
  for (size_t i = 0; i < std::size(kLogLinear); i++) {
    int64_t value = 0;
    if (!constant_parameter(c, i, value, kLogLinear[i].type, kLogLinear[i].name)) return false;
    if (value < 0 || value > UINT16_MAX)
      return fail(c, kLogLinear[i].value, c.constants[i]->where,
                  fmt::format("llquantize( ) argument #{}{} must be an unsigned 16-bit quantity", i + 1, kLogLinear[i].name));
    c.parameters.push_back(value);
  }
  return check_magnitudes(c, c.parameters[0], c.parameters[1], c.parameters[2]) &&
         check_steps(c, c.parameters[0], c.parameters[3]);
}

}  // namespace

bool check_quantize_parameters(AggregationCheck& c) {
  if (c.row->id == dif::Action::agg_lquantize) return check_linear(c);
  if (c.row->id == dif::Action::agg_llquantize) return check_log_linear(c);
  return true;
}

}  // namespace dvm::compiler
