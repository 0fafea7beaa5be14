// Loads and constants go down to where they are needed, and values are made where they are wanted. Tests:
// tests/unit/compiler/optimize_test.cpp.
#include <algorithm>
#include <map>

#include "compiler/lower/optimize.h"

namespace dvm::compiler {

namespace {

bool is_constant(const CodeStep& s) {
  return s.has_format(dif::Format::setx) || s.has_format(dif::Format::sets) || (s.is_move() && s.reads[0] == 0);
}

class Sinker {
 public:
  explicit Sinker(Code& code)
      : code_(code), counts_(code), waiting_(code.registers, code.arena()), shared_(code.arena()), loads_(code.arena()) {
    for (const CodeStep& s : code.steps)
      if (is_variable_store(s)) loads_.try_emplace(s.symbol);
  }

  void run() {
    ArenaVector<CodeStep> steps = std::move(code_.steps);
    code_.steps.reserve(steps.size());
    for (const CodeStep& s : steps) {
      if (s.is_label || s.is_branch()) place_shared(nullptr), place_loads();
      place_shared(&s);
      place_read(s);
      if (is_variable_store(s)) place_loads(s.symbol);
      if (!wait(s)) code_.steps.push_back(s);
    }
  }

 private:
  bool wait(const CodeStep& s) {
    if (!is_constant(s) && !is_scalar_load(s)) return false;
    if (counts_.writes[s.writes] > 1) {
      if (is_constant(s)) shared_.push_back(s);
      return is_constant(s);
    }
    if (counts_.reads[s.writes] != 1) return false;
    waiting_[s.writes] = {s, next_++};
    if (const auto it = loads_.find(s.symbol); it != loads_.end()) it->second.push_back(s.writes);
    return true;
  }

  // Places the loads that a step reads, in their original order.
  void place_read(const CodeStep& s) {
    std::array<VirtualRegister, 3> reads = s.reads;
    std::sort(reads.begin(), reads.end(),
              [this](VirtualRegister a, VirtualRegister b) { return waiting_[a].order < waiting_[b].order; });
    for (const VirtualRegister r : reads) place(r);
  }

  // A constant of a register that other paths write too waits for the next branch only.
  void place_shared(const CodeStep* before) {
    const auto is_due = [&](const CodeStep& s) {
      const bool is_read = before && std::find(before->reads.begin(), before->reads.end(), s.writes) != before->reads.end();
      return !before || before->writes == s.writes || is_read;
    };
    for (const CodeStep& s : shared_)
      if (is_due(s)) code_.steps.push_back(s);
    std::erase_if(shared_, is_due);
  }

  // A store may lie on one path only: what it would change is loaded before the paths part.
  void place_loads() {
    for (const auto& row : loads_) place_loads(row.first);
  }

  void place_loads(const Symbol* symbol) {
    for (const VirtualRegister r : loads_[symbol]) place(r);
    loads_[symbol].clear();
  }

  void place(VirtualRegister r) {
    if (waiting_[r].order == 0) return;
    code_.steps.push_back(waiting_[r].step);
    waiting_[r].order = 0;
  }

  struct Waiting {
    CodeStep step;
    unsigned order = 0;  // 0: nothing waits
  };

  Code& code_;
  RegisterCounts counts_;
  ArenaVector<Waiting> waiting_;  // by register
  ArenaVector<CodeStep> shared_;
  std::pmr::map<const Symbol*, ArenaVector<VirtualRegister>> loads_;  // that wait, of variables that the code stores to
  unsigned next_ = 1;
};

}  // namespace

void sink_loads(Code& code) { Sinker(code).run(); }

// Between the step that makes the value and the move, the register must be left alone.
void join_moves(Code& code) {
  const RegisterCounts counts(code);
  ArenaVector<size_t> made(code.registers, code.arena()), touched(code.registers, code.arena());
  ArenaVector<CodeStep>& steps = code.steps;
  for (size_t at = 0; at < steps.size(); at++) {
    CodeStep& s = steps[at];
    const VirtualRegister from = s.reads[0];
    const bool joins = s.is_move() && from != 0 && counts.writes[from] == 1 && counts.reads[from] == 1 &&
                       (touched[s.writes] == 0 || touched[s.writes] < made[from]);
    if (joins) steps[made[from] - 1].writes = s.writes, s.reads[0] = s.writes;
    for (const VirtualRegister r : s.reads) touched[r] = at + 1;
    if (s.writes) made[s.writes] = touched[s.writes] = at + 1;
  }
}

}  // namespace dvm::compiler
