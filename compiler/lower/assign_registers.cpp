// Seven registers for any number of values. Tests: tests/unit/compiler/optimize_test.cpp, tests/golden/lower (err.D_NOREG.*.d).
//
// One walk in the order of the code. A value has its register from the first step that writes it to the last that reads it.
// Branches only go forward, so no path needs it before or after. When no register is free, a constant (or a built-in, which does
// not change during a firing) gives up its register: the one whose next use is farthest. It is loaded again at that use.
#include <algorithm>

#include "compiler/lower/optimize.h"

namespace dvm::compiler {

namespace {

class Assigner {
 public:
  explicit Assigner(Code& code)
      : code_(code),
        counts_(code),
        values_(code.registers, LiveValue(code.arena()), code.arena()),
        arrivals_(code.labels, kNever, code.arena()),
        needed_(code.arena()) {
    for (uint32_t at = 0; at < code.steps.size(); at++) note(code.steps[at], at);
  }

  bool run() {
    Table<Step> steps = std::move(code_.steps);
    code_.steps.reserve(steps.size());
    for (at_ = 0; at_ < steps.size() && !failed_; at_++) assign(steps[at_]);
    return !failed_;
  }

 private:
  static constexpr uint32_t kNever = ~uint32_t{0};

  struct LiveValue {
    explicit LiveValue(Arena* arena) : reads(arena) {}
    LiveValue(const LiveValue& other) : reads(other.reads.get_allocator()) {}  // of a new one

    unsigned reg = 0;       // 0: none
    Table<uint32_t> reads;  // where, in order
    size_t next = 0;        // of them
    uint32_t last = 0;      // step that touches it
    uint32_t loaded = 0;    // where it was loaded anew; 0: its register has it since it was made
    Step made;              // a nop: cannot be made anew
  };

  void note(const Step& s, uint32_t at) {
    for (const Register r : s.reads)
      if (r != 0) values_[r].reads.push_back(at), values_[r].last = at;
    if (s.writes != 0) values_[s.writes].last = at;
    if (s.is_branch()) arrivals_[s.value] = std::min(arrivals_[s.value], at);
    const bool is_constant = s.has_format(dif::Format::setx) || s.has_format(dif::Format::sets);
    const bool is_built_in = is_scalar_load(s) && s.symbol->kind == SymbolKind::built_in;
    if (s.writes != 0 && counts_.writes[s.writes] == 1 && (is_constant || is_built_in)) values_[s.writes].made = s;
  }

  void assign(Step s) {
    if (s.is_label) forget_loads(arrivals_[s.value]);
    needed_.clear();
    for (const Register r : s.reads)
      if (r != 0) needed_.push_back(r);
    for (const Register r : needed_) load_anew(r);
    const std::array<Register, 3> reads = s.reads;
    for (Register& r : s.reads) r = values_[r].reg;
    for (const Register r : reads) {
      LiveValue& v = values_[r];
      while (v.next < v.reads.size() && v.reads[v.next] <= at_) v.next++;
      if (r != 0 && v.last <= at_) release(v);
    }
    needed_.clear();
    if (s.writes != 0) s.writes = written(s.writes, s.is_move() ? static_cast<unsigned>(s.reads[0]) : 0);
    if (s.is_move() && s.writes == s.reads[0]) return;
    code_.steps.push_back(s);
  }

  unsigned written(Register r, unsigned wish) {
    LiveValue& v = values_[r];
    if (v.reg == 0) take(r, wish);
    const unsigned reg = v.reg;
    if (v.last <= at_) release(v);
    return reg;
  }

  void load_anew(Register r) {
    LiveValue& v = values_[r];
    if (v.reg != 0) return;
    take(r, 0);
    v.loaded = at_;
    Step s = v.made;
    s.writes = v.reg;
    code_.steps.push_back(s);
  }

  // What was loaded anew behind a branch to here is not there on the path of that branch.
  void forget_loads(uint32_t arrival) {
    for (unsigned reg = 1; reg < dif::kRegisters; reg++)
      if (held_[reg] != 0 && values_[held_[reg]].loaded > arrival) release(values_[held_[reg]]);
  }

  void take(Register r, unsigned wish) {
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
    unsigned best = 0;
    uint32_t farthest = 0;
    for (unsigned reg = 1; reg < dif::kRegisters; reg++) {
      if (held_[reg] == 0) return reg;
      const LiveValue& v = values_[held_[reg]];
      const bool is_needed = std::find(needed_.begin(), needed_.end(), held_[reg]) != needed_.end();
      if (is_needed || v.made.has_format(dif::Format::none) || v.next >= v.reads.size() || v.reads[v.next] < farthest) continue;
      best = reg, farthest = v.reads[v.next];
    }
    if (best != 0) release(values_[held_[best]]);
    return best;
  }

  Code& code_;
  RegisterCounts counts_;
  Table<LiveValue> values_;   // by register of the code
  Table<uint32_t> arrivals_;  // by label: the first branch to it
  std::array<Register, dif::kRegisters> held_{};
  Table<Register> needed_;  // by the current step
  uint32_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

bool assign_registers(Code& code) { return Assigner(code).run(); }

}  // namespace dvm::compiler
