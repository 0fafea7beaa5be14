#pragma once
// The processes in which a predicate can be true, derived from its DIF: one process for /pid == $target && .../, those of a name
// for /execname == "top"/. An instrument that sees every process need not send the firings of the others. Every path through the
// DIF is followed; a path that is not understood stands for all processes.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::runtime {

// The processes with one of these numbers or one of these names, both sorted. All processes if both are empty.
struct WantedProcesses {
  std::vector<int32_t> pids;
  std::vector<std::string> names;

  bool is_any() const { return pids.empty() && names.empty(); }
  friend bool operator==(const WantedProcesses&, const WantedProcesses&) = default;
};

// All processes too if something before the comparison can fault, since the fault would have to be reported.
WantedProcesses wanted_processes(const dif::Difo& predicate);
// The processes that any of the clauses on a probe wants. A clause whose predicate is never true wants none; if all are such, all
// processes.
WantedProcesses wanted_processes(std::span<const dif::EcbDesc* const> clauses);

}  // namespace dvm::runtime
