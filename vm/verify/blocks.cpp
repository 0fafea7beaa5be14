// Basic blocks: one begins at the start, at each branch target and after each branch and ret. Covered by
// tests/unit/vm/verify_test.cpp.

#include "vm/verify/report.h"

namespace dvm::vm {

std::vector<BasicBlock> find_blocks(const dif::Difo& difo) {
  const auto size = static_cast<uint32_t>(difo.text.size());
  std::vector<bool> begins(size + 1);
  begins[0] = true;
  for (uint32_t pc = 0; pc < size; pc++) {
    const dif::Instruction in = difo.text[pc];
    if (is_branch(in)) begins[in.label()] = true;
    if (is_branch(in) || is_return(in)) begins[pc + 1] = true;
  }
  std::vector<BasicBlock> blocks;
  for (uint32_t pc = 0; pc < size; pc++) {
    if (begins[pc]) blocks.push_back({pc, pc});
    blocks.back().end = pc + 1;
  }
  return blocks;
}

}  // namespace dvm::vm
