// Arithmetic with known operands, and operations that cancel each other. Tests: tests/unit/compiler/optimize_test.cpp.
#include <algorithm>

#include "compiler/lower/numbering.h"

namespace dvm::compiler {

namespace {

bool is_shift(const CodeStep& s) {
  const auto operation = operation_of(s.op);
  return operation && (operation->op == Op::shift_left || operation->op == Op::shift_right);
}

void become_copy(CodeStep& s, VirtualRegister from) { s = CodeStep::move(from, s.writes); }
void become_constant(CodeStep& s, uint64_t value) { s = CodeStep::constant(value, s.writes); }

void simplify_equal(CodeStep& s) {
  if (s.reads[0] != s.reads[1]) return;
  if (computes(s, Op::subtract) || computes(s, Op::bit_xor)) become_constant(s, 0);
  if (computes(s, Op::bit_and) || computes(s, Op::bit_or)) become_copy(s, s.reads[0]);
}

// v & 0xff of what is no larger.
bool fits_mask(const Numbering& n, const CodeStep& s, uint64_t mask) {
  return computes(s, Op::bit_and) && (mask & (mask + 1)) == 0 &&
         n.ranges[s.reads[0]].is_within(ValueRange{0, static_cast<int64_t>(mask)});
}

// ~v & 0xff is v ^ 0xff if v is no larger.
bool clear_complement(const Numbering& n, CodeStep& s, uint64_t mask) {
  const CodeStep& inner = n.made[s.reads[0]].step;
  if (s.reads[0] == 0 || !computes(s, Op::bit_and) || !computes(inner, Op::complement) || (mask & (mask + 1)) != 0) return false;
  if (!is_settled(n, inner.reads[0]) || !n.ranges[inner.reads[0]].is_within(ValueRange{0, static_cast<int64_t>(mask)}))
    return false;
  s.op = opcode_of(Op::bit_xor), s.reads[0] = inner.reads[0];
  return true;
}

// v << j >> k is v >> (k - j) if v has room above for j bits.
bool skip_extension(Numbering& n, CodeStep& s, uint64_t by) {
  const CodeStep& up = n.made[s.reads[0]].step;
  const auto up_by = s.reads[0] != 0 && computes(up, Op::shift_left) ? constant(n, up.reads[1]) : std::nullopt;
  if (!up_by || *up_by == 0 || by < *up_by || by >= 64 || !is_settled(n, up.reads[0])) return false;
  if (!n.ranges[up.reads[0]].is_within(ValueRange::of_bits(64 - static_cast<unsigned>(*up_by), true))) return false;
  if (by == *up_by) return become_copy(s, up.reads[0]), true;
  s.reads = {up.reads[0], new_constant(n, by - *up_by)};
  return true;
}

// (w >> k) / c is w / (c << k), where w has nothing in its k low bits.
void divide_shifted(Numbering& n, CodeStep& s, uint64_t by) {
  const auto [up, down_by] = shifted_up(n, s.reads[0]);
  const uint64_t moved = by << down_by;
  if (up == 0) return;
  if (static_cast<int64_t>(moved) >> down_by == static_cast<int64_t>(by)) s.reads = {up, new_constant(n, moved)};
}

// (v * c) << k is v * (c << k), and so is -v; but a shift that loses nothing is better left for the shift back.
bool shift_product(Numbering& n, CodeStep& s, uint64_t by) {
  const CodeStep& inner = n.made[s.reads[0]].step;
  if (s.reads[0] == 0 || by == 0 || by >= 64) return false;
  if (n.ranges[s.reads[0]].is_within(ValueRange::of_bits(64 - static_cast<unsigned>(by), true))) return false;
  const bool is_negated = computes(inner, Op::subtract) && inner.reads[0] == 0;
  const VirtualRegister of = inner.reads[is_negated ? 1 : 0];
  const auto factor = is_negated ? ~uint64_t{0} : computes(inner, Op::multiply) ? constant(n, inner.reads[1]) : std::nullopt;
  if (!factor || *factor << by == 0 || !is_settled(n, of)) return false;
  s.op = opcode_of(Op::multiply), s.reads = {of, new_constant(n, *factor << by)};
  return true;
}

// (v op a) op b is v op (a op b).
void merge_constants(Numbering& n, CodeStep& s, uint64_t right) {
  const CodeStep& inner = n.made[s.reads[0]].step;
  if (s.reads[0] == 0 || inner.op != s.op || !is_settled(n, inner.reads[0])) return;
  const auto first = constant(n, inner.reads[1]);
  if (!first) return;
  std::optional<uint64_t> both;
  if (commutes(s.op)) both = evaluate(s.op, *first, right);
  if (is_shift(s) && *first < 64 && right < 64) {
    both = *first + right;
    if (computes(s, Op::shift_right, true)) both = std::min<uint64_t>(*both, 63);
    if (*both >= 64) return become_constant(s, 0);
  }
  if (!both) return;
  s.reads = {inner.reads[0], new_constant(n, *both)};
}

void simplify_with(Numbering& n, CodeStep& s, uint64_t right) {
  if (computes(s, Op::complement)) return;
  const auto operation = operation_of(s.op);
  if (operation && neutral(operation->op) == right) return become_copy(s, s.reads[0]);
  if (right == 0 && (computes(s, Op::multiply) || computes(s, Op::bit_and))) return become_constant(s, 0);
  if (fits_mask(n, s, right)) return become_copy(s, s.reads[0]);
  if (clear_complement(n, s, right)) return;
  if (computes(s, Op::shift_right, true) && skip_extension(n, s, right)) return;
  if (computes(s, Op::divide, true)) return divide_shifted(n, s, right);
  if (computes(s, Op::shift_left) && shift_product(n, s, right)) return;
  merge_constants(n, s, right);
}

}  // namespace

void simplify_value(Numbering& n, CodeStep& s) {
  if (commutes(s.op) && constant(n, s.reads[0]) && !constant(n, s.reads[1])) std::swap(s.reads[0], s.reads[1]);
  const auto left = constant(n, s.reads[0]), right = constant(n, s.reads[1]);
  if (left && right)
    if (const auto value = evaluate(s.op, *left, *right)) return become_constant(s, *value);
  if (!right || !evaluate(s.op, 1, 1)) return simplify_equal(s);
  simplify_with(n, s, *right);
}

}  // namespace dvm::compiler
