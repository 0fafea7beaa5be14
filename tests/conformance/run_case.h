#pragma once
// Runs one case on one engine under one cost policy.

#include <string>

#include "dvm/vm/engine.h"
#include "tests/conformance/dift.h"

namespace dvm::vm::test {

using Prepare = std::unique_ptr<PreparedDifo> (*)(VerifiedDifo, CostPolicy);

struct Outcome {
  std::string problem;  // empty: as expected
  Counts counts;
};

Outcome run_case(const Case& c, Prepare prepare, CostPolicy policy);

// The tally of a row of any table by its mnemonic or name; null when there is no such row.
const Tally* find_tally(const Counts& counts, const std::string& name);

}  // namespace dvm::vm::test
