// Branches go forward and stay inside; the text ends with a ret. Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include "vm/verify/report.h"

namespace dvm::vm {

void check_branches(const dif::Difo& difo, Report& report) {
  for (unsigned pc = 0; pc < difo.text.size(); pc++) {
    const dif::Instruction in = difo.text[pc];
    if (!is_branch(in)) continue;
    if (in.label() >= difo.text.size())
      report.add(pc, fmt::format("branch to {}, outside the object", in.label()));
    else if (in.label() <= pc)
      report.add(pc, fmt::format("branch back to {}", in.label()));
  }
  if (!is_return(difo.text.back())) report.add(static_cast<unsigned>(difo.text.size() - 1), "the last instruction is not a ret");
}

}  // namespace dvm::vm
