#pragma once
// In which processes a predicate can be true at all, by its DIF: /pid == $target && .../ in one, /execname == "top"/ in those of
// a name. An instrument that hears of every process need not send the others' firings. Every way through the DIF is looked at;
// what is not understood means: in any.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::runtime {

// Those with one of these numbers or one of these names, sorted; neither: any.
struct WantedProcesses {
  std::vector<int32_t> pids;
  std::vector<std::string> names;

  bool is_any() const { return pids.empty() && names.empty(); }
  friend bool operator==(const WantedProcesses&, const WantedProcesses&) = default;
};

// Also any if something before the comparison can fault, for the fault would have to be told.
WantedProcesses wanted_processes(const dif::Difo& predicate);
// Of clauses on one probe, all of them.
WantedProcesses wanted_processes(std::span<const dif::EcbDesc* const> clauses);

}  // namespace dvm::runtime
