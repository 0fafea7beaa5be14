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
  ranges[0] = Range::constant(0);
  for (Register r = 0; r < c.registers; r++) same[r] = r;
  for (uint32_t i = 0; i < c.steps.size(); i++) last_write[c.steps[i].writes] = i;
  block = dominators.add(kNoBlock);
}

namespace {

constexpr uint64_t kLow32 = 0xffffffff;

bool commutes(Opcode op) {
  return op == Opcode::add || op == Opcode::mul || op == Opcode::and_ || op == Opcode::or_ || op == Opcode::xor_;
}

bool is_shift(Opcode op) { return op == Opcode::sll || op == Opcode::srl || op == Opcode::sra; }

class Numbering {
 public:
  explicit Numbering(Code& code)
      : code_(code),
        steps_(code.arena()),
        counts_(code),
        last_write_(code.registers, code.arena()),
        same_(code.registers, code.arena()),
        made_(code.registers, code.arena()),
        ranges_(code.registers, code.arena()),
        written_(code.registers, false, code.arena()),
        numbers_(code.arena()),
        dominators_(code.arena()),
        arrivals_(code.labels, kNoBlock, code.arena()),
        versions_(code.arena()),
        stored_(code.arena()) {
    ranges_[0] = Range::constant(0);
    for (Register r = 0; r < code.registers; r++) same_[r] = r;
    for (uint32_t i = 0; i < code.steps.size(); i++) last_write_[code.steps[i].writes] = i;
    block_ = dominators_.add(kNoBlock);
  }

  // Values.

  std::optional<uint64_t> constant(Register r) const {
    if (r == 0) return 0;
    if (made_[r].step.has_format(dif::Format::setx)) return made_[r].step.value;
    return std::nullopt;
  }

  // It keeps the value that it has now.
  bool is_settled(Register r) const {
    if (r == 0 || counts_.writes[r] <= 1) return true;
    return last_write_[r] < at_;
  }

  // The register has other values on other paths.
  void keep_shared(Step& s) {
    const bool is_first = !written_[s.writes];
    written_[s.writes] = true;
    ranges_[s.writes] = is_first ? range_of(s) : join(ranges_[s.writes], range_of(s));
    if (s.is_move() && s.reads[0] != 0) {
      const Step& from = made_[s.reads[0]].step;
      if (from.has_format(dif::Format::setx) || from.has_format(dif::Format::sets))
        s.op = from.op, s.value = from.value, s.reads = {};
    }
    keep(s);
  }

  Register new_constant(uint64_t value) { return new_value({.op = Opcode::setx, .value = value}); }
  Register new_value(Opcode op, Register left, Register right) { return new_value({.op = op, .reads = {left, right}}); }

  Register new_value(Step s) {
    s.writes = code_.registers++;
    same_.push_back(s.writes);
    counts_.writes.push_back(1);
    counts_.reads.push_back(0);
    last_write_.push_back(at_);
    written_.push_back(false);
    made_.emplace_back();
    ranges_.emplace_back();
    return number(s);
  }

  }










  // Variables.

  void note_store(const Step& s) {
    versions_[s.symbol]++;
    stored_[s.symbol] = {block_, s};
  }

void enter(Numbering& n, const Step& label) {
  uint32_t dominator = n.arrivals[label.value];
  if (n.is_reached) dominator = n.dominators.common(dominator, n.block);
  n.is_reached = dominator != kNoBlock;
  if (!n.is_reached) return;
  n.block = n.dominators.add(dominator);
  n.codes.reset();
  keep(n, label);
}

void branch(Numbering& n, Step& s) {
  if (s.is_conditional() && n.codes) {
    if (!holds(*comparison_of(s.op), n.codes->first, n.codes->second)) return;
    s = Step::jump(static_cast<Label>(s.value));
  }
  n.arrivals[s.value] = n.dominators.common(n.arrivals[s.value], n.block);
  keep(n, s);
  n.is_reached = s.is_conditional();
  if (n.is_reached) n.block = n.dominators.add(n.block);
}

  std::optional<uint32_t> version_of(const Step& s) {
    if (is_scalar_load(s)) return versions_[s.symbol];
    if (is_memory_load(s)) return memory_;
    if (s.has_format(dif::Format::setx) || s.has_format(dif::Format::sets) || s.has_format(dif::Format::lda) ||
        evaluate(s.op, 1, 1))
      return 0;
    return std::nullopt;
  }

  // Keeps the step, unless its value is there. Returns the register that has it.
  Register number(const Step& s) {
    made_[s.writes] = {block_, s};
    ranges_[s.writes] = range_of(s);
    const auto version = version_of(s);
    const bool settled = is_settled(s.reads[0]) && is_settled(s.reads[1]);
    if (!version || !settled) {
      if (!settled) made_[s.writes].step = {};
      keep(s);
      return s.writes;
    }
    const ValueKey key{s.op, s.reads[0], s.reads[1], s.symbol ? reinterpret_cast<uint64_t>(s.symbol) : s.value, *version};
    const auto [it, is_new] = numbers_.try_emplace(key, s.writes);
    if (!is_new && dominators_.dominates(made_[it->second].block, block_)) return same_[s.writes] = it->second;
    it->second = s.writes;
    keep(s);
    return s.writes;
  }

  Code& code_;
  Table<Step> steps_;  // as they were
  uint32_t at_ = 0;
  RegisterCounts counts_;
  Table<uint32_t> last_write_;
  Table<Register> same_;  // a register with the same value, that was there first
  Table<Definition> made_;
  Table<Range> ranges_;  // by register; of one with several values, those so far
  Table<bool> written_;  // of the latter
  std::pmr::unordered_map<ValueKey, Register, ValueKeyHash> numbers_;

  Dominators dominators_;
  Table<uint32_t> arrivals_;  // by label: what dominates all branches to it
  uint32_t block_ = 0;
  bool is_reached_ = true;

void visit(Numbering& n, Step s) {
  if (s.is_label) return enter(n, s);
  if (!n.is_reached) return;
  for (Register& r : s.reads) r = n.same[r];
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

void number_values(Code& code) {
  Numbering n(code);
  n.steps = std::move(code.steps);
  code.steps.reserve(n.steps.size());
  for (n.at = 0; n.at < n.steps.size(); n.at++) visit(n, n.steps[n.at]);
}

}  // namespace dvm::compiler
