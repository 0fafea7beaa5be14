// Values that are computed twice, constants and decided branches. Tests: tests/unit/compiler/optimize_test.cpp.
//
// One walk over the code. A value is known by its opcode and operands, and by the version of what it reads: each store to a
// variable, and whatever may write to memory, begins a new version. What was computed before is taken again if its block
// dominates the current one, that is, if every path led through it; since branches only go ahead, dominators are known on the
// way. What a variable has just been given need not be loaded, and what is known to fit a type (range.h) need not be extended to
// it.
#include "compiler/lower/numbering.h"
#include "compiler/lower/optimize.h"

namespace dvm::compiler {

Numbering::Numbering(Code& c)
    : code(c),
      steps(c.arena()),
      counts(c),
      last_write(c.registers, c.arena()),
      same(c.registers, c.arena()),
      made(c.registers, c.arena()),
      ranges(c.registers, c.arena()),
      written(c.registers, false, c.arena()),
      numbers(c.arena()),
      dominators(c.arena()),
      arrivals(c.labels, kNoBlock, c.arena()),
      versions(c.arena()),
      stored(c.arena()) {
  ranges[0] = ValueRange::constant(0);
  for (VirtualRegister r = 0; r < c.registers; r++) same[r] = r;
  for (uint32_t i = 0; i < c.steps.size(); i++) last_write[c.steps[i].writes] = i;
  block = dominators.add(kNoBlock);
}

namespace {

void keep(Numbering& n, const CodeStep& s) { n.code.steps.push_back(s); }

ValueRange range_of(const Numbering& n, const CodeStep& s) {
  if (s.has_format(dif::Format::setx)) return ValueRange::constant(s.value);
  if (s.is_move()) return n.ranges[s.reads[0]];
  if (s.symbol) return of_variable(*s.symbol);
  if (is_memory_load(s)) return of_load(s.op);
  return of_operation(s.op, n.ranges[s.reads[0]], n.ranges[s.reads[1]]);
}

std::optional<uint32_t> version_of(Numbering& n, const CodeStep& s) {
  if (is_scalar_load(s)) return n.versions[s.symbol];
  if (is_memory_load(s)) return n.memory;
  if (s.has_format(dif::Format::setx) || s.has_format(dif::Format::sets) || s.has_format(dif::Format::lda) ||
      evaluate(s.op, 1, 1))
    return 0;
  return std::nullopt;
}

// Keeps the step, unless its value is there. Returns the register that has it.
VirtualRegister number(Numbering& n, const CodeStep& s) {
  n.made[s.writes] = {n.block, s};
  n.ranges[s.writes] = range_of(n, s);
  const auto version = version_of(n, s);
  const bool settled = is_settled(n, s.reads[0]) && is_settled(n, s.reads[1]);
  if (!version || !settled) {
    if (!settled) n.made[s.writes].step = {};
    keep(n, s);
    return s.writes;
  }
  const ValueKey key{s.op, s.reads[0], s.reads[1], s.symbol ? reinterpret_cast<uint64_t>(s.symbol) : s.value, *version};
  const auto [it, is_new] = n.numbers.try_emplace(key, s.writes);
  if (!is_new && n.dominators.dominates(n.made[it->second].block, n.block)) return n.same[s.writes] = it->second;
  it->second = s.writes;
  keep(n, s);
  return s.writes;
}

VirtualRegister new_value(Numbering& n, CodeStep s) {
  s.writes = n.code.registers++;
  n.same.push_back(s.writes);
  n.counts.writes.push_back(1);
  n.counts.reads.push_back(0);
  n.last_write.push_back(n.at);
  n.written.push_back(false);
  n.made.emplace_back();
  n.ranges.emplace_back();
  return number(n, s);
}

}  // namespace

VirtualRegister new_constant(Numbering& n, uint64_t value) { return value == 0 ? 0 : new_value(n, CodeStep::constant(value, 0)); }

VirtualRegister new_value(Numbering& n, dif::Opcode op, VirtualRegister left, VirtualRegister right) {
  return new_value(n, {.op = op, .reads = {left, right}});
}

std::optional<uint64_t> constant(const Numbering& n, VirtualRegister r) {
  if (r == 0) return 0;
  if (n.made[r].step.has_format(dif::Format::setx)) return n.made[r].step.value;
  return std::nullopt;
}

bool is_settled(const Numbering& n, VirtualRegister r) {
  if (r == 0 || n.counts.writes[r] <= 1) return true;
  return n.last_write[r] < n.at;
}

namespace {

// How many of the low bits are 0.
uint64_t clear_bits(const Numbering& n, VirtualRegister r) {
  const CodeStep& made = n.made[r].step;
  const uint64_t by = r != 0 ? constant(n, made.reads[1]).value_or(0) : 0;
  if (computes(made, Op::shift_left)) return by < 64 ? by : 0;
  return computes(made, Op::multiply) && by != 0 ? static_cast<uint64_t>(std::countr_zero(by)) : 0;
}

}  // namespace

std::pair<VirtualRegister, uint64_t> shifted_up(const Numbering& n, VirtualRegister r) {
  const CodeStep& down = n.made[r].step;
  const auto by = r != 0 && computes(down, Op::shift_right, true) ? constant(n, down.reads[1]) : std::nullopt;
  if (!by || *by >= 64 || clear_bits(n, down.reads[0]) < *by) return {};
  return {down.reads[0], *by};
}

namespace {

void enter(Numbering& n, const CodeStep& label) {
  uint32_t dominator = n.arrivals[label.value];
  if (n.is_reached) dominator = n.dominators.common(dominator, n.block);
  n.is_reached = dominator != kNoBlock;
  if (!n.is_reached) return;
  n.block = n.dominators.add(dominator);
  n.codes.reset();
  keep(n, label);
}

void branch(Numbering& n, CodeStep& s) {
  if (s.is_conditional() && n.codes) {
    n.has_decided = true;
    if (!holds(*comparison_of(s.op), n.codes->first, n.codes->second)) return;
    s = CodeStep::jump(static_cast<CodeLabel>(s.value));
  }
  n.arrivals[s.value] = n.dominators.common(n.arrivals[s.value], n.block);
  keep(n, s);
  n.is_reached = s.is_conditional();
  if (n.is_reached) n.block = n.dominators.add(n.block);
}

void compare(Numbering& n, CodeStep& s) {
  if (fold_comparison(n, s)) keep(n, s);
}

// The register has other values on other paths.
void keep_shared(Numbering& n, CodeStep& s) {
  const bool is_first = !n.written[s.writes];
  n.written[s.writes] = true;
  n.ranges[s.writes] = is_first ? range_of(n, s) : join(n.ranges[s.writes], range_of(n, s));
  if (s.is_move() && s.reads[0] != 0) {
    const CodeStep& from = n.made[s.reads[0]].step;
    if (from.has_format(dif::Format::setx) || from.has_format(dif::Format::sets))
      s.op = from.op, s.value = from.value, s.reads = {};
  }
  keep(n, s);
}

void note_store(Numbering& n, const CodeStep& s) {
  n.versions[s.symbol]++;
  n.stored[s.symbol] = {n.block, s};
}

// Replaces a load by the value stored on the way here, if the variable keeps it unchanged. A thread's variable may be dropped.
void take_stored(Numbering& n, CodeStep& s) {
  const auto it = is_scalar_load(s) && s.symbol->scope != dif::Scope::thread ? n.stored.find(s.symbol) : n.stored.end();
  if (it == n.stored.end() || !is_scalar(s.symbol->type) || !n.dominators.dominates(it->second.block, n.block)) return;
  const VirtualRegister value = it->second.step.reads[0];
  const bool is_whole = resolve(*s.symbol->type).size >= 8 || n.ranges[value].is_within(of_type(s.symbol->type));
  if (is_whole && is_settled(n, value)) s = CodeStep::move(value, s.writes);
}

void visit(Numbering& n, CodeStep s) {
  if (s.is_label) return enter(n, s);
  if (!n.is_reached) return;
  for (VirtualRegister& r : s.reads) r = n.same[r];
  if (s.is_branch()) return branch(n, s);
  if (s.is_compare()) return compare(n, s);
  if (s.has_format(dif::Format::ret)) n.is_reached = false;
  if (is_variable_store(s)) note_store(n, s);
  if (changes_memory(s)) n.memory++;
  if (s.writes == 0) return keep(n, s);
  if (n.counts.writes[s.writes] > 1) return keep_shared(n, s);
  take_stored(n, s);
  simplify_value(n, s);
  if (s.is_move() && is_settled(n, s.reads[0]))
    n.same[s.writes] = s.reads[0];
  else
    number(n, s);
}

}  // namespace

bool number_values(Code& code) {
  Numbering n(code);
  n.steps = std::move(code.steps);
  code.steps.reserve(n.steps.size());
  for (n.at = 0; n.at < n.steps.size(); n.at++) visit(n, n.steps[n.at]);
  return n.has_decided;
}

}  // namespace dvm::compiler
