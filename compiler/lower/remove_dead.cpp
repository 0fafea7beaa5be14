// Removes unread values and temporary variables, comparisons without a branch, and branches to the next step. Tests:
// tests/unit/compiler/optimize_test.cpp.
#include <algorithm>
#include <set>

#include "compiler/lower/optimize.h"

namespace dvm::compiler {

using dif::Format;
using dif::TupleUse;

namespace {

bool is_division(const CodeStep& s) {
  const dif::OpcodeInfo& row = dif::info(s.op);
  return row.format == dif::Format::log && row.can_fault;
}

class Remover {
 public:
  explicit Remover(Code& code)
      : code_(code),
        counts_(code),
        read_(code.registers, false, code.arena()),
        is_constant_(code.registers, false, code.arena()),
        loaded_(code.arena()),
        overwritten_(code.arena()),
        leads_to_(code.labels, code.arena()),
        here_(code.arena()) {
    for (CodeLabel l = 0; l < code.labels; l++) leads_to_[l] = l;
    for (const CodeStep& s : code.steps) {
      is_constant_[s.writes] = s.has_format(Format::setx);
      if (s.symbol && !is_variable_store(s)) loaded_.insert(s.symbol);
    }
  }

  // From the end, so that all that reads a value is seen before what makes it.
  void run() {
    ArenaVector<CodeStep> kept(code_.arena());
    kept.reserve(code_.steps.size());
    for (auto it = code_.steps.rbegin(); it != code_.steps.rend(); ++it)
      if (keep(*it)) kept.push_back(*it);
    std::reverse(kept.begin(), kept.end());
    code_.steps = std::move(kept);
  }

 private:
  bool keep(CodeStep& s) {
    if (s.is_label) return note_label(s);
    if (s.is_branch()) return keep_branch(s);
    if (is_variable_store(s) && s.symbol->is_temporary && !loaded_.contains(s.symbol)) return false;
    if (s.is_compare()) {
      const bool is_read = codes_read_ || dif::info(s.op).can_fault;
      codes_read_ = false;
      if (!is_read) return false;
    }
    const bool is_useless = !read_[s.writes] || is_overwritten(s.writes) || (s.is_move() && s.reads[0] == s.writes);
    if (is_useless && is_removable(s)) return false;
    const TupleUse tuple = dif::info(s.op).tuple;
    if (tuple == TupleUse::clear && tuple_is_dropped_) return false;
    tuple_is_dropped_ = tuple == TupleUse::clear || s.has_format(Format::ret) || (tuple_is_dropped_ && tuple == TupleUse::none);
    note_registers(s);
    here_.clear();
    after_ = s;
    return true;
  }

  void note_registers(const CodeStep& s) {
    if (s.writes != 0 && counts_.writes[s.writes] > 1) overwritten_.push_back(s.writes);
    for (const VirtualRegister r : s.reads) {
      read_[r] = true;
      std::erase(overwritten_, r);
    }
  }
  bool is_overwritten(VirtualRegister r) const {
    return std::find(overwritten_.begin(), overwritten_.end(), r) != overwritten_.end();
  }

  // Nothing but the register it writes tells that it was executed. Only what is no constant may be a divisor of 0.
  bool is_removable(const CodeStep& s) const {
    if (s.writes == 0) return false;
    if (is_division(s)) return is_constant_[s.reads[1]];
    return is_scalar_load(s) || s.is_move() || s.has_format(Format::setx) || s.has_format(Format::sets) ||
           evaluate(s.op, 1, 1).has_value();
  }

  bool note_label(const CodeStep& s) {
    overwritten_.clear();
    tuple_is_dropped_ = false;  // its depth is the same on all paths
    here_.push_back(static_cast<CodeLabel>(s.value));
    if (after_.is_branch() && !after_.is_conditional()) leads_to_[s.value] = static_cast<CodeLabel>(after_.value);
    return true;
  }

  bool keep_branch(CodeStep& s) {
    s.value = leads_to_[s.value];
    tuple_is_dropped_ = false;
    overwritten_.clear();
    if (std::find(here_.begin(), here_.end(), s.value) != here_.end()) return false;
    codes_read_ = codes_read_ || s.is_conditional();
    here_.clear();
    after_ = s;
    return true;
  }

  Code& code_;
  RegisterCounts counts_;
  ArenaVector<bool> read_;  // by a step that comes later
  ArenaVector<bool> is_constant_;
  std::pmr::set<const Symbol*> loaded_;
  ArenaVector<VirtualRegister> overwritten_;  // on the way to the next branch or label, before anything reads them
  ArenaVector<CodeLabel> leads_to_;           // a label, or where the `ba` at it goes
  ArenaVector<CodeLabel> here_;               // the labels between the step and the next one that is kept
  CodeStep after_;                            // that step
  bool codes_read_ = false;
  bool tuple_is_dropped_ = false;  // before anything looks at it
};

}  // namespace

void remove_dead(Code& code) { Remover(code).run(); }

}  // namespace dvm::compiler
