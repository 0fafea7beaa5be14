// Ranges of arithmetic (compiler/lower/range.h): they hold every result, and those of simple operations hold nothing else.

#include "compiler/lower/range.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "compiler/lower/operators.h"
#include "dvm/dif/arithmetic.h"
#include "dvm/dif/opcode.h"

namespace dvm::compiler {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

std::string text_of(const ValueRange& range) { return fmt::format("{} to {}", range.low, range.high); }

std::vector<ValueRange> small_ranges() {
  constexpr int64_t kEnds[] = {-7, -4, -1, 0, 1, 3, 6};
  std::vector<ValueRange> ranges;
  for (const int64_t low : kEnds)
    for (const int64_t high : kEnds)
      if (low <= high) ranges.push_back({low, high});
  return ranges;
}

void expect_holds_all(dif::Opcode op, const ValueRange& left, const ValueRange& right) {
  const ValueRange range = of_operation(op, left, right);
  for (int64_t a = left.low; a <= left.high; a++)
    for (int64_t b = right.low; b <= right.high; b++) {
      const auto result = dif::arithmetic(op, static_cast<uint64_t>(a), static_cast<uint64_t>(b));
      if (!result) continue;
      const ValueRange one = ValueRange::constant(*result);
      ASSERT_TRUE(one.is_within(range)) << dif::info(op).mnemonic << " of " << a << " and " << b << " is not from "
                                        << text_of(range);
    }
}

TEST(Range, HoldsEveryResult) {
  const std::vector<ValueRange> ranges = small_ranges();
  for (const OperatorOpcodes& row : kArithmetic)
    for (const ValueRange& left : ranges)
      for (const ValueRange& right : ranges) {
        expect_holds_all(row.with_sign, left, right);
        expect_holds_all(row.without, left, right);
      }
}

struct Case {
  Op op;
  bool with_sign;
  ValueRange left, right, result;
};

constexpr ValueRange kAll{}, kSeven{7, 7};
constexpr Case kCases[] = {
    {Op::add, false, {-3, 4}, {1, 2}, {-2, 6}},
    {Op::add, false, {0, kMost}, {0, 1}, kAll},
    {Op::subtract, false, {-3, 4}, {1, 2}, {-5, 3}},
    {Op::multiply, false, {-3, 4}, {-2, 5}, {-15, 20}},
    {Op::bit_and, false, {-3, 4}, {0, 15}, {0, 15}},
    {Op::bit_or, false, {0, 4}, {0, 9}, {0, 15}},
    {Op::shift_left, false, {-3, 4}, {3, 3}, {-24, 32}},
    {Op::shift_right, true, {-30, 40}, {3, 3}, {-4, 5}},
    {Op::shift_right, false, {-1, 4}, {1, 1}, {0, kMost}},
    {Op::divide, true, {-30, 40}, kSeven, {-40, 40}},
    {Op::divide, true, {kLeast, 0}, kSeven, kAll},
    {Op::remainder, true, {-100, 100}, kSeven, {-6, 6}},
    {Op::remainder, true, {0, 100}, {-9, 3}, {0, 8}},
    {Op::remainder, true, {-2, 3}, kSeven, {-2, 3}},
    {Op::remainder, true, {-2, 3}, {0, 0}, kAll},
    {Op::remainder, false, kAll, kSeven, {0, 6}},
    {Op::remainder, false, kAll, {-1, 7}, kAll},
    {Op::complement, false, {-3, 4}, kAll, {-5, 2}},
};

TEST(Range, IsAsNarrowAsItCanBe) {
  for (const Case& one : kCases)
    EXPECT_EQ(text_of(of_operation(opcode_of(one.op, one.with_sign), one.left, one.right)), text_of(one.result))
        << dif::info(opcode_of(one.op, one.with_sign)).mnemonic << " of " << text_of(one.left) << " and " << text_of(one.right);
}

}  // namespace
}  // namespace dvm::compiler
