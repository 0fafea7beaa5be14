// Arithmetic of ranges. Tests: tests/unit/compiler/range_test.cpp, optimize_test.cpp.
#include "compiler/lower/range.h"

#include <algorithm>
#include <bit>

#include "compiler/lower/operators.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

constexpr ValueRange kAll{};

ValueRange add(const ValueRange& a, const ValueRange& b) {
  ValueRange r;
  const bool over = __builtin_add_overflow(a.low, b.low, &r.low) || __builtin_add_overflow(a.high, b.high, &r.high);
  return over ? kAll : r;
}

ValueRange subtract(const ValueRange& a, const ValueRange& b) {
  ValueRange r;
  const bool over = __builtin_sub_overflow(a.low, b.high, &r.low) || __builtin_sub_overflow(a.high, b.low, &r.high);
  return over ? kAll : r;
}

ValueRange multiply(const ValueRange& a, const ValueRange& b) {
  int64_t p[4];
  if (__builtin_mul_overflow(a.low, b.low, &p[0]) || __builtin_mul_overflow(a.low, b.high, &p[1]) ||
      __builtin_mul_overflow(a.high, b.low, &p[2]) || __builtin_mul_overflow(a.high, b.high, &p[3]))
    return kAll;
  const auto [low, high] = std::minmax_element(std::begin(p), std::end(p));
  return {*low, *high};
}

// The bits of which all that are above are equal to the highest.
unsigned width(const ValueRange& r) {
  const auto bits = [](int64_t v) { return 65 - std::countl_zero(static_cast<uint64_t>(v < 0 ? ~v : v)); };
  return static_cast<unsigned>(std::max(bits(r.low), bits(r.high)));
}

ValueRange bit_and(const ValueRange& a, const ValueRange& b) {
  if (a.is_positive() && b.is_positive()) return {0, std::min(a.high, b.high)};
  if (a.is_positive()) return {0, a.high};
  if (b.is_positive()) return {0, b.high};
  return ValueRange::of_bits(std::max(width(a), width(b)), true);
}

// The range of or and xor.
ValueRange bit_or(const ValueRange& a, const ValueRange& b) {
  const ValueRange r = ValueRange::of_bits(std::max(width(a), width(b)), true);
  return a.is_positive() && b.is_positive() ? ValueRange{0, r.high} : r;
}

ValueRange shift_left(const ValueRange& a, const ValueRange& by) {
  if (!by.is_constant() || by.low < 0 || by.low > 62) return kAll;
  return multiply(a, ValueRange::constant(uint64_t{1} << by.low));
}

ValueRange shift_right(const ValueRange& a, const ValueRange& by) {
  if (!by.is_constant() || by.low < 0 || by.low > 63) return {std::min<int64_t>(a.low, 0), std::max<int64_t>(a.high, -1)};
  return {a.low >> by.low, a.high >> by.low};
}

ValueRange shift_right_unsigned(const ValueRange& a, const ValueRange& by) {
  if (a.is_positive()) return shift_right(a, by);
  if (!by.is_constant() || by.low < 1 || by.low > 63) return kAll;
  return {0, static_cast<int64_t>(~uint64_t{0} >> by.low)};
}

// The quotient is no farther from 0 than the dividend, on either side.
ValueRange divide(const ValueRange& a) {
  if (a.low == kAll.low) return kAll;
  const int64_t most = std::max({a.high, -a.low, int64_t{0}});
  return {-most, most};
}

ValueRange divide_unsigned(const ValueRange& a, const ValueRange& b) {
  return a.is_positive() && b.is_positive() ? ValueRange{0, a.high} : kAll;
}

// The remainder has the sign of the dividend, and is nearer to 0 than both.
ValueRange remainder(const ValueRange& a, const ValueRange& b) {
  if (b.low == kAll.low || (b.low == 0 && b.high == 0)) return kAll;
  const int64_t most = std::max(b.high, -b.low) - 1;
  return {std::max(std::min<int64_t>(a.low, 0), -most), std::min(std::max<int64_t>(a.high, 0), most)};
}

ValueRange remainder_unsigned(const ValueRange& b) { return b.is_positive() && b.high > 0 ? ValueRange{0, b.high - 1} : kAll; }

}  // namespace

ValueRange ValueRange::of_bits(unsigned bits, bool is_signed) {
  if (bits >= 64) return {};
  if (!is_signed) return {0, static_cast<int64_t>((uint64_t{1} << bits) - 1)};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

ValueRange of_type(const Type* type) {
  const Type& t = resolve(*type);
  if (!is_scalar(type) || t.size == 0 || t.size >= 8) return kAll;
  return t.is_bool ? ValueRange{0, 1} : ValueRange::of_bits(static_cast<unsigned>(t.size) * 8, t.is_signed);
}

// The ids of processes and threads are never negative.
ValueRange of_variable(const Symbol& v) {
  const auto is = [&](dif::BuiltIn id) { return v.kind == SymbolKind::built_in && v.id == static_cast<unsigned>(id); };
  const ValueRange declared = of_type(v.type);
  return is(dif::BuiltIn::pid) || is(dif::BuiltIn::tid) || is(dif::BuiltIn::ppid) ? ValueRange{0, declared.high} : declared;
}

ValueRange of_load(dif::Opcode op) {
  const dif::Width width = dif::info(op).width;
  return bytes_of(width) < 8 ? ValueRange::of_bits(8 * bytes_of(width), is_signed(width)) : kAll;
}

ValueRange of_operation(dif::Opcode opcode, const ValueRange& left, const ValueRange& right) {
  const auto operation = operation_of(opcode);
  if (!operation) return kAll;
  switch (operation->op) {
    case Op::complement:
      return {~left.high, ~left.low};
    case Op::add:
      return add(left, right);
    case Op::subtract:
      return subtract(left, right);
    case Op::multiply:
      return multiply(left, right);
    case Op::bit_and:
      return bit_and(left, right);
    case Op::bit_or:
    case Op::bit_xor:
      return bit_or(left, right);
    case Op::shift_left:
      return shift_left(left, right);
    case Op::shift_right:
      return operation->with_sign ? shift_right(left, right) : shift_right_unsigned(left, right);
    case Op::divide:
      return operation->with_sign ? divide(left) : divide_unsigned(left, right);
    case Op::remainder:
      return operation->with_sign ? remainder(left, right) : remainder_unsigned(right);
    default:
      return kAll;
  }
}

// v and the constant are moved up until they are numbers from 0 to 2^32. Of the sum, what did not wrap is then below 2^32; with
// 2^32 taken away it is, without sign, above all that did wrap. An order with sign is that without, 2^63 above.
std::optional<Unwrapped> unwrap(Operation asked, uint64_t addend, uint64_t constant, bool is_signed) {
  constexpr uint64_t kWrap = uint64_t{1} << 32;
  const uint64_t moved = is_signed ? kWrap / 2 : 0, limit = constant + moved, c = addend % kWrap;
  if (limit >= kWrap) return std::nullopt;
  if (asked.op == Op::equal || asked.op == Op::not_equal) return Unwrapped{0, (limit - c) % kWrap - moved};
  if (asked.with_sign != is_signed) return std::nullopt;
  const bool asks_less = asked.op == Op::less || asked.op == Op::greater_equal;
  const bool all_wrapped_below = asks_less ? c <= limit : c <= limit + 1;  // what wrapped is below c
  const uint64_t sign = is_signed ? uint64_t{1} << 63 : 0;
  return Unwrapped{c + moved - kWrap + sign, (all_wrapped_below ? limit - kWrap : limit) + sign};
}

ValueRange join(const ValueRange& a, const ValueRange& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

}  // namespace dvm::compiler
