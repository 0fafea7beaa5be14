// Facts that hold on every path to an instruction: which registers have been written, and the depth of the tuple stack.
// Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include <algorithm>

#include "dvm/dif/forward_flow.h"
#include "dvm/dif/register_use.h"
#include "dvm/dif/subroutine.h"
#include "vm/verify/report.h"

namespace dvm::vm {

namespace {

struct Facts {
  uint8_t written = 1;  // bit n: %rn; %r0 always
  unsigned depth = 0;
};

class FlowChecker {
 public:
  explicit FlowChecker(Report& report) : report_(report) {}

  void step(Facts& facts, dif::Instruction in, size_t pc) {
    pc_ = static_cast<unsigned>(pc);
    check_reads(facts, dif::registers_of(in).reads);
    facts.written |= dif::registers_of(in).writes;
    facts.depth = depth_after(facts.depth, in);
  }

  void join(Facts& into, const Facts& from, size_t pc) {
    if (into.depth != from.depth)
      report_.add(static_cast<unsigned>(pc), fmt::format("the tuple stack is {} or {} deep here", into.depth, from.depth));
    into.written &= from.written;
  }

 private:
  void check_reads(const Facts& facts, uint8_t reads) {
    for (unsigned r = 0; r < dif::kRegisters; r++)
      if ((reads & ~facts.written) >> r & 1) report_.add(pc_, fmt::format("%r{} is read but not written on every path", r));
  }

  unsigned depth_after(unsigned depth, dif::Instruction in) {
    switch (info(in.opcode()).tuple) {
      case dif::TupleUse::push:
        if (depth == dif::kTupleDepth) report_.add(pc_, "tuple stack overflow");
        return std::min(depth + 1, dif::kTupleDepth);
      case dif::TupleUse::pop:
        if (depth == 0) report_.add(pc_, "tuple stack underflow");
        return depth == 0 ? 0 : depth - 1;
      case dif::TupleUse::arguments:
        check_arguments(depth, dif::kSubroutines[in.index()]);
        return 0;
      case dif::TupleUse::clear:
        return 0;
      case dif::TupleUse::none:
      case dif::TupleUse::key:
        break;
    }
    return depth;
  }

  void check_arguments(unsigned depth, const dif::SubroutineInfo& row) {
    if (depth >= row.arguments.required() && depth <= row.arguments.size()) return;
    report_.add(pc_, fmt::format("{} finds {} arguments on the tuple stack", row.name, depth));
  }

  Report& report_;
  unsigned pc_ = 0;
};

}  // namespace

void check_flow(const dif::Difo& difo, Report& report) {
  FlowChecker flow(report);
  flow_forward(difo, Facts{}, flow);
}

}  // namespace dvm::vm
