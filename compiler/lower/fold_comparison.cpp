// Comparisons whose result is known, or that need less of their operands. Tests: tests/unit/compiler/optimize_test.cpp.
#include "compiler/lower/numbering.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

constexpr uint64_t kLow32 = 0xffffffff;

// The comparison asked for by the branch that reads the condition codes.
std::optional<Operation> asked(const Numbering& n) {
  uint32_t next = n.at + 1;
  while (next < n.steps.size() && !n.steps[next].is_branch()) next++;
  return next < n.steps.size() ? comparison_of(n.steps[next].op) : std::nullopt;
}

bool asks_for_order_with_sign(const Numbering& n) {
  const auto operation = asked(n);
  return operation && operation->with_sign;
}

// tst answers nothing else.
bool asks_for_zero(const Numbering& n) {
  const auto operation = asked(n);
  return operation && (operation->op == Op::equal || operation->op == Op::not_equal);
}

// v + c, and whether it was wrapped to an int or to 32 bits without sign.
struct Wrapped {
  VirtualRegister of = 0;
  uint64_t addend = 0;
  bool is_signed = false;
};

std::optional<Wrapped> wrapped_sum(const Numbering& n, VirtualRegister r) {
  if (r == 0 || n.counts.reads[r] != 1) return std::nullopt;
  const CodeStep& outer = n.made[r].step;
  const bool is_signed = computes(outer, Op::shift_right, true) && constant(n, outer.reads[1]) == 32;
  if (!is_signed && (!computes(outer, Op::bit_and) || constant(n, outer.reads[1]) != kLow32)) return std::nullopt;
  const CodeStep& up = n.made[outer.reads[0]].step;
  if (is_signed && (!computes(up, Op::shift_left) || constant(n, up.reads[1]) != 32)) return std::nullopt;
  const CodeStep& sum = is_signed ? n.made[up.reads[0]].step : up;
  const auto addend = computes(sum, Op::add) || computes(sum, Op::subtract) ? constant(n, sum.reads[1]) : std::nullopt;
  if (!addend || !is_settled(n, sum.reads[0])) return std::nullopt;
  if (!n.ranges[sum.reads[0]].is_within(ValueRange::of_bits(32, is_signed))) return std::nullopt;
  return Wrapped{sum.reads[0], computes(sum, Op::add) ? *addend : 0 - *addend, is_signed};
}

// A wrapped sum against a constant needs no wrapping where the constants can be chosen to the same effect.
bool compare_unwrapped(Numbering& n, CodeStep& s) {
  const auto sum = wrapped_sum(n, s.reads[0]);
  const auto right = constant(n, s.reads[1]);
  const auto plain = sum && right && asked(n) ? unwrap(*asked(n), sum->addend, *right, sum->is_signed) : std::nullopt;
  if (!plain) return false;
  const VirtualRegister left =
      plain->added == 0 ? sum->of : new_value(n, opcode_of(Op::add), sum->of, new_constant(n, plain->added));
  s.op = Opcode::cmp, s.reads = {left, new_constant(n, plain->against)};
  return true;
}

// v + c < v, of int and for c > 0, says that the sum has wrapped: the largest int less c is below v.
bool compare_with_itself(Numbering& n, CodeStep& s) {
  const auto sum = wrapped_sum(n, s.reads[0]);
  if (!sum || !sum->is_signed || sum->of != s.reads[1] || !asks_for_order_with_sign(n)) return false;
  constexpr uint64_t kMost = kLow32 >> 1;
  if (sum->addend == 0 || sum->addend > kMost) return false;
  const bool has_edge = asked(n)->op == Op::less || asked(n)->op == Op::greater_equal;
  s.reads[0] = new_constant(n, kMost - sum->addend + (has_edge ? 0 : 1));
  return true;
}

// The register from which the high half was cleared, if that half repeated the sign; else the register itself.
VirtualRegister without_mask(const Numbering& n, VirtualRegister r) {
  const CodeStep& masked = n.made[r].step;
  const bool is_masked = r != 0 && computes(masked, Op::bit_and) && constant(n, masked.reads[1]) == kLow32;
  return is_masked && is_settled(n, masked.reads[0]) && n.ranges[masked.reads[0]].is_within(ValueRange::of_bits(32, true))
             ? masked.reads[0]
             : r;
}

void compare_with(Numbering& n, CodeStep& s, VirtualRegister left, uint64_t value) {
  s.reads[0] = left;
  if (s.op == Opcode::cmp) s.reads[1] = new_constant(n, value);
}

// Two 32-bit values without sign compare as they do when their highest bit is repeated above.
void compare_masked(Numbering& n, CodeStep& s) {
  const VirtualRegister left = without_mask(n, s.reads[0]), right = without_mask(n, s.reads[1]);
  const auto value = constant(n, s.reads[1]);
  if (left == s.reads[0] || (right == s.reads[1] && (!value || *value > kLow32))) return;
  if (value) return compare_with(n, s, left, static_cast<uint64_t>(static_cast<int32_t>(*value)));
  s.reads[0] = left;
  if (s.op == Opcode::cmp) s.reads[1] = right;
}

// v << j >> k against a constant is v << j against that constant << k, if j is at least k. An extension needs one shift less.
void compare_low(Numbering& n, CodeStep& s, uint64_t right) {
  const auto [up, by] = shifted_up(n, s.reads[0]);
  const uint64_t moved = right << by;
  if (up == 0 || static_cast<uint64_t>(static_cast<int64_t>(moved) >> by) != right) return;
  s.reads = {up, new_constant(n, moved)};
}

void compare_both_low(Numbering& n, CodeStep& s) {
  const auto [left, left_by] = shifted_up(n, s.reads[0]);
  const auto [right, right_by] = shifted_up(n, s.reads[1]);
  if (left != 0 && right != 0 && left_by == right_by) s.reads = {left, right};
}

bool is_text(const Numbering& n, VirtualRegister r) { return r != 0 && n.made[r].step.has_format(dif::Format::sets); }

const std::string& text(const Numbering& n, VirtualRegister r) { return n.code.strings[n.made[r].step.value]; }

// How much of a string is compared depends on strsize, but for its first character.
bool folds_strings(Numbering& n, const CodeStep& s) {
  if (!is_text(n, s.reads[0]) || !is_text(n, s.reads[1])) return false;
  const std::string &left = text(n, s.reads[0]), &right = text(n, s.reads[1]);
  if (left == right) n.codes = {0, 0};
  if (left[0] != right[0]) n.codes = {static_cast<unsigned char>(left[0]), static_cast<unsigned char>(right[0])};
  return n.codes.has_value();
}

}  // namespace

bool fold_comparison(Numbering& n, CodeStep& s) {
  n.codes.reset();
  if (dif::info(s.op).width == dif::Width::text) return !folds_strings(n, s);
  if (compare_unwrapped(n, s) || compare_with_itself(n, s)) return true;
  if (!asks_for_order_with_sign(n)) compare_masked(n, s);
  const auto left = constant(n, s.reads[0]), right = s.op == Opcode::tst ? 0 : constant(n, s.reads[1]);
  if (left && right) n.codes = {*left, *right};
  if (s.op == Opcode::cmp && s.reads[0] == s.reads[1]) n.codes = {0, 0};
  // For the smallest number, `*right - 1` wraps to the largest. Any value from 0 up then compares as 0 does, signed or not.
  if (!left && right && n.ranges[s.reads[0]].is_within({0, static_cast<int64_t>(*right - 1)})) n.codes = {0, *right};
  if (is_text(n, s.reads[0]) && right == 0) n.codes = {1, 0};
  right ? compare_low(n, s, *right) : compare_both_low(n, s);
  if (s.reads[1] == 0 && asks_for_zero(n)) s.op = Opcode::tst;
  return true;
}

}  // namespace dvm::compiler
