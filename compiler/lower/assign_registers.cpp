// Seven registers for any number of values. Tests: tests/unit/compiler/optimize_test.cpp, tests/golden/lower (tst.spill.d).
//
// One walk in the order of the code. A value has its register from the first step that writes it to the last that reads it.
// Branches only go forward, so no path needs it before or after. When no register is free, a constant (or a built-in, which does
// not change during a firing) gives up its register: the one whose next use is farthest. It is loaded again at that use.
//
// If none of them has a register, another value is spilled: stored to a clause-local variable wherever it is written. That must
// be known before the value is written, so the walk is repeated until it finds no further value to spill.
#include <algorithm>

#include "compiler/lower/optimize.h"

namespace dvm::compiler {

namespace {

// The variables that spilled values are kept in. Values that are not needed at the same time share one.
class Spills {
 public:
  Spills(const Code& code, const SpillVariables& variables)
      : variables_(variables), spilled_(code.registers, nullptr, code.arena()) {}

  // Where the value is kept; null: it is not spilled.
  const Symbol* of(VirtualRegister r) const { return spilled_[r]; }
  bool add(VirtualRegister r, uint32_t begin, uint32_t end) {
    if (!variables_) return false;
    size_t slot = 0;
    while (slot < used_.size() && is_used(slot, begin, end)) slot++;
    if (slot == used_.size()) used_.emplace_back();
    used_[slot].push_back({begin, end});
    spilled_[r] = variables_(slot);
    return spilled_[r] != nullptr;
  }

 private:
  struct LiveRange {
    uint32_t begin, end;
  };
  bool is_used(size_t slot, uint32_t begin, uint32_t end) const {
    return std::any_of(used_[slot].begin(), used_[slot].end(),
                       [&](const LiveRange& r) { return begin < r.end && r.begin < end; });
  }

  const SpillVariables& variables_;
  ArenaVector<const Symbol*> spilled_;
  std::vector<std::vector<LiveRange>> used_;  // by variable
};

class Assigner {
 public:
  Assigner(Code& code, Spills& spills)
      : code_(code),
        spills_(spills),
        counts_(code),
        values_(code.registers, LiveValue(code.arena()), code.arena()),
        arrivals_(code.labels, kNever, code.arena()),
        needed_(code.arena()) {
    for (uint32_t at = 0; at < code.steps.size(); at++) note(code.steps[at], at);
  }

  enum class Outcome : uint8_t { done, spilled, failed };

  // spilled: the steps are not right yet.
  Outcome run(const ArenaVector<CodeStep>& steps) {
    code_.steps.clear();
    for (at_ = 0; at_ < steps.size() && !failed_; at_++) assign(steps[at_]);
    return failed_ ? Outcome::failed : has_spilled_ ? Outcome::spilled : Outcome::done;
  }

 private:
  static constexpr uint32_t kNever = ~uint32_t{0};

  struct LiveValue {
    explicit LiveValue(CodeArena* arena) : reads(arena) {}
    LiveValue(const LiveValue& other) : reads(other.reads.get_allocator()) {}  // of a new one

    unsigned reg = 0;                   // 0: none
    ArenaVector<uint32_t> reads;        // where, in order
    size_t next = 0;                    // of them
    uint32_t first = kNever, last = 0;  // steps that touch it
    uint32_t loaded = 0;                // where it was loaded anew; 0: its register has it since it was made
    CodeStep made;                      // a nop: cannot be made anew
  };

  void note(const CodeStep& s, uint32_t at) {
    for (const VirtualRegister r : s.reads)
      if (r != 0) values_[r].reads.push_back(at), values_[r].last = at;
    if (s.writes != 0) values_[s.writes].first = std::min(values_[s.writes].first, at), values_[s.writes].last = at;
    if (s.is_branch()) arrivals_[s.value] = std::min(arrivals_[s.value], at);
    const bool is_constant = s.has_format(dif::Format::setx) || s.has_format(dif::Format::sets);
    const bool is_built_in = is_scalar_load(s) && s.symbol->kind == SymbolKind::built_in;
    if (s.writes != 0 && counts_.writes[s.writes] == 1 && (is_constant || is_built_in)) values_[s.writes].made = s;
    if (const Symbol* variable = spills_.of(s.writes)) values_[s.writes].made = load_of(*variable);
  }

  static CodeStep load_of(const Symbol& variable) { return {.op = dif::Opcode::ldls, .value = variable.id, .symbol = &variable}; }
  static CodeStep store_to(const Symbol& variable, unsigned reg) {
    return {.op = dif::Opcode::stls, .reads = {reg}, .value = variable.id, .symbol = &variable};
  }

  void assign(CodeStep s) {
    if (s.is_label) forget_loads(arrivals_[s.value]);
    needed_.clear();
    for (const VirtualRegister r : s.reads)
      if (r != 0) needed_.push_back(r);
    for (const VirtualRegister r : needed_) load_anew(r);
    const std::array<VirtualRegister, 3> reads = s.reads;
    for (VirtualRegister& r : s.reads) r = values_[r].reg;
    for (const VirtualRegister r : reads) {
      LiveValue& v = values_[r];
      while (v.next < v.reads.size() && v.reads[v.next] <= at_) v.next++;
      if (r != 0 && v.last <= at_) release(v);
    }
    needed_.clear();
    const VirtualRegister written = s.writes;
    if (written != 0) s.writes = register_of(written, s.is_move() ? static_cast<unsigned>(s.reads[0]) : 0);
    if (!s.is_move() || s.writes != s.reads[0]) code_.steps.push_back(s);
    if (written != 0) keep(written);
  }

  unsigned register_of(VirtualRegister r, unsigned wish) {
    if (values_[r].reg == 0) take(r, wish);
    return values_[r].reg;
  }

  // What several paths write is in the same place on all of them only if it has no register.
  void keep(VirtualRegister r) {
    LiveValue& v = values_[r];
    const Symbol* variable = v.last > at_ ? spills_.of(r) : nullptr;
    if (variable) code_.steps.push_back(store_to(*variable, v.reg));
    if (v.last <= at_ || (variable && counts_.writes[r] > 1)) release(v);
  }

  void load_anew(VirtualRegister r) {
    LiveValue& v = values_[r];
    if (v.reg != 0) return;
    take(r, 0);
    v.loaded = at_;
    CodeStep s = v.made;
    s.writes = v.reg;
    code_.steps.push_back(s);
  }

  // What was loaded anew behind a branch to here is not there on the path of that branch.
  void forget_loads(uint32_t arrival) {
    for (unsigned reg = 1; reg < dif::kRegisters; reg++)
      if (held_[reg] != 0 && values_[held_[reg]].loaded > arrival) release(values_[held_[reg]]);
  }

  void take(VirtualRegister r, unsigned wish) {
    const unsigned reg = wish != 0 && held_[wish] == 0 ? wish : free_register();
    if (reg == 0) failed_ = true;
    held_[reg] = r;
    values_[r].reg = reg;
    values_[r].loaded = 0;
  }

  void release(LiveValue& v) {
    held_[v.reg] = 0;
    v.reg = 0;
  }

  unsigned free_register() {
    for (unsigned reg = 1; reg < dif::kRegisters; reg++)
      if (held_[reg] == 0) return reg;
    unsigned best = farthest([](const LiveValue& v) { return !v.made.has_format(dif::Format::none); });
    if (best == 0) best = spill(farthest([](const LiveValue&) { return true; }));
    if (best != 0) release(values_[held_[best]]);
    return best;
  }

  // The register of the value whose next use is farthest.
  template <class Predicate>
  unsigned farthest(Predicate may_be_taken) const {
    unsigned best = 0;
    uint32_t distance = 0;
    for (unsigned reg = 1; reg < dif::kRegisters; reg++) {
      const LiveValue& v = values_[held_[reg]];
      const bool is_needed = std::find(needed_.begin(), needed_.end(), held_[reg]) != needed_.end();
      if (is_needed || !may_be_taken(v) || v.next >= v.reads.size() || v.reads[v.next] < distance) continue;
      best = reg, distance = v.reads[v.next];
    }
    return best;
  }

  unsigned spill(unsigned reg) {
    LiveValue& v = values_[held_[reg]];
    if (reg == 0 || !spills_.add(held_[reg], v.first, v.last)) return 0;
    v.made = load_of(*spills_.of(held_[reg]));
    has_spilled_ = true;
    return reg;
  }

  Code& code_;
  Spills& spills_;
  RegisterCounts counts_;
  ArenaVector<LiveValue> values_;   // by register of the code
  ArenaVector<uint32_t> arrivals_;  // by label: the first branch to it
  std::array<VirtualRegister, dif::kRegisters> held_{};
  ArenaVector<VirtualRegister> needed_;  // by the current step
  uint32_t at_ = 0;
  bool failed_ = false, has_spilled_ = false;
};

}  // namespace

bool assign_registers(Code& code, const SpillVariables& variables) {
  using Outcome = Assigner::Outcome;
  const ArenaVector<CodeStep> steps(code.steps, code.arena());
  Spills spills(code, variables);
  for (;; code.steps = steps) {
    const Outcome outcome = Assigner(code, spills).run(steps);
    if (outcome != Outcome::spilled) return outcome == Outcome::done;
  }
}

}  // namespace dvm::compiler
