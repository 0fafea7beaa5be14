#pragma once
// The parts of the verifier. Each checks one property and appends the errors that it finds:
//
// - check_operands   opcodes, registers, unused operands
// - check_tables     indices of integers and strings
// - check_branches   targets, the final ret
// - check_types      variables and subroutines exist and have the right kind
// - check_flow       on every path, registers are written before they are read, and the depth of the tuple stack is right
//
// Flow is checked only in a DIFO that passed the other checks.

#include <string>
#include <utility>
#include <vector>

#include "dvm/vm/verified_difo.h"

namespace dvm::vm {

class Report {
 public:
  void add(unsigned pc, std::string message) { errors_.push_back({pc, std::move(message)}); }
  bool empty() const { return errors_.empty(); }
  std::vector<VerifyError> take_sorted();

 private:
  std::vector<VerifyError> errors_;
};

void check_operands(const dif::Difo& difo, Report& report);
void check_tables(const dif::Difo& difo, Report& report);
void check_branches(const dif::Difo& difo, Report& report);
void check_types(const dif::Difo& difo, Report& report);
void check_flow(const dif::Difo& difo, Report& report);

std::vector<BasicBlock> find_blocks(const dif::Difo& difo);

}  // namespace dvm::vm
