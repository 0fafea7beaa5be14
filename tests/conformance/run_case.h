#pragma once
// Runs one case on one engine under one cost policy.

#include <memory>
#include <string>
#include <vector>

#include "dvm/vm/engine.h"
#include "tests/conformance/dift.h"

namespace dvm::vm::test {

using Prepare = Prepared (*)(VerifiedDifo, CostPolicy);

struct Outcome {
  std::string problem;  // empty: as expected
  Counts counts;
};

// A case, prepared once, to be run by any number of threads. `problem`: what is wrong before it can run.
struct PreparedCase {
  const Case* of = nullptr;
  CostPolicy policy = CostPolicy::none;
  std::string problem;
  std::shared_ptr<const PreparedDifo> difo;  // null: it is not to be run
  std::vector<dif::Variable> variables;
};
PreparedCase prepare_case(const Case& c, Prepare prepare, CostPolicy policy);
Outcome run_prepared(const PreparedCase& prepared);

inline Outcome run_case(const Case& c, Prepare prepare, CostPolicy policy) {
  return run_prepared(prepare_case(c, prepare, policy));
}

// The tally of a row of any table by its mnemonic or name; null when there is no such row.
const Tally* find_tally(const Counts& counts, const std::string& name);

}  // namespace dvm::vm::test
