#pragma once
// Checks whether a firing can use a global variable in one atomic step, although several DIFOs of its clauses use it.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// The action neither acts on the process nor ends the clause, whatever its arguments are.
bool only_records(const ActionPlan& action);

// How often the clause looks at the variable or changes it, at most.
unsigned global_accesses(const EcbPlan& plan, uint16_t id);

// Numbers of clauses of a probe, and of a DIFO.
struct SingleUse {
  size_t first = 0;                  // clause that uses the variable
  std::optional<size_t> changing{};  // that clause, if it changes the variable
  size_t change = 0;                 // by this DIFO, before which nothing of the clause may fail
  bool reads_time = false;           // that clause reads the time, and none before it does
};

// One clause, the first one that uses the variable, may change it once. Nothing: the clauses change it otherwise, or do not use
// it.
std::optional<SingleUse> single_use(const ProbeEcbs& probe, uint16_t id);

}  // namespace dvm::runtime
