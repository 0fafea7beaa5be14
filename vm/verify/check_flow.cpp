// What holds on every path to an instruction: which registers have been written and how deep the tuple stack is. Branches only go
// ahead, so one pass in the order of the text sees every predecessor first. What no path reaches is not looked at.
// Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dvm/dif/subroutine.h"
#include "vm/verify/report.h"

namespace dvm::vm {

namespace {

struct Facts {
  uint8_t written = 1;  // bit n: %rn; %r0 always
  unsigned depth = 0;
};

struct ArgumentRange {
  unsigned least = 0, most = 0;
};

ArgumentRange arguments_of(const dif::SubroutineInfo& row) {
  if (row.arguments.empty()) return {};
  const auto most = static_cast<unsigned>(std::count(row.arguments.begin(), row.arguments.end(), ' ') + 1);
  return {most - static_cast<unsigned>(std::count(row.arguments.begin(), row.arguments.end(), '?')), most};
}

class Flow {
 public:
  Flow(const dif::Difo& difo, Report& report) : difo_(difo), report_(report), facts_(difo.text.size()) {}

  void run() {
    facts_[0] = Facts{};
    for (pc_ = 0; pc_ < difo_.text.size(); pc_++)
      if (facts_[pc_]) step(*facts_[pc_], difo_.text[pc_]);
  }

 private:
  void step(Facts facts, dif::Instruction in) {
    check_reads(facts, registers_of(in).reads);
    facts.written |= registers_of(in).writes;
    facts.depth = depth_after(facts.depth, in);
    if (is_branch(in)) reach(in.label(), facts);
    if (in.opcode() != dif::Opcode::ret && in.opcode() != dif::Opcode::ba) reach(pc_ + 1, facts);
  }

  void check_reads(const Facts& facts, uint8_t reads) {
    for (unsigned r = 0; r < dif::kRegisters; r++)
      if ((reads & ~facts.written) >> r & 1) report_.add(pc_, fmt::format("%r{} is read but not written on every path", r));
  }

  unsigned depth_after(unsigned depth, dif::Instruction in) {
    switch (in.opcode()) {
      case dif::Opcode::pushtr:
      case dif::Opcode::pushtv:
        if (depth == dif::kTupleDepth) report_.add(pc_, "tuple stack overflow");
        return std::min(depth + 1, dif::kTupleDepth);
      case dif::Opcode::popts:
        if (depth == 0) report_.add(pc_, "tuple stack underflow");
        return depth == 0 ? 0 : depth - 1;
      case dif::Opcode::call:
        check_arguments(depth, dif::kSubroutines[in.index()]);
        return 0;
      case dif::Opcode::flushts:
        return 0;
      default:
        return depth;
    }
  }

  void check_arguments(unsigned depth, const dif::SubroutineInfo& row) {
    const ArgumentRange range = arguments_of(row);
    if (depth >= range.least && depth <= range.most) return;
    report_.add(pc_, fmt::format("{} finds {} arguments on the tuple stack", row.name, depth));
  }

  void reach(unsigned pc, const Facts& facts) {
    std::optional<Facts>& known = facts_[pc];
    if (!known) {
      known = facts;
      return;
    }
    if (known->depth != facts.depth)
      report_.add(pc, fmt::format("the tuple stack is {} or {} deep here", known->depth, facts.depth));
    known->written &= facts.written;
  }

  const dif::Difo& difo_;
  Report& report_;
  std::vector<std::optional<Facts>> facts_;
  unsigned pc_ = 0;
};

}  // namespace

void check_flow(const dif::Difo& difo, Report& report) { Flow(difo, report).run(); }

}  // namespace dvm::vm
