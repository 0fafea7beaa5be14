// The checks in order. Covered by tests/unit/vm/verify_test.cpp and tests/fuzz/verifier_fuzz_test.cpp.

#include "dvm/vm/verify.h"

#include <algorithm>

#include "vm/verify/report.h"

namespace dvm::vm {

std::vector<VerifyError> Report::take_sorted() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) { return a.pc < b.pc; });
  return std::move(errors_);
}

namespace {

// An empty object has no pc that could be wrong; one that is too long is not looked at.
bool size_is_good(const dif::Difo& difo, Report& report) {
  if (difo.text.empty()) report.add(0, "no instructions");
  if (difo.text.size() > dif::kMaxInstructions) report.add(0, "too many instructions");
  return report.empty();
}

}  // namespace

std::variant<VerifiedDifo, std::vector<VerifyError>> verify(dif::Difo difo) {
  Report report;
  if (size_is_good(difo, report)) {
    check_operands(difo, report);
    check_tables(difo, report);
    check_branches(difo, report);
    check_types(difo, report);
    if (report.empty()) check_flow(difo, report);
  }
  if (!report.empty()) return report.take_sorted();
  VerifiedDifo verified;
  verified.blocks_ = find_blocks(difo);
  verified.difo_ = std::make_shared<const dif::Difo>(std::move(difo));
  return verified;
}

}  // namespace dvm::vm
