#pragma once
// In which processes a predicate can be true at all, by its DIF: /pid == $target && .../ in one. An instrument that hears of
// every process need not send the others' firings. Every way through the DIF is looked at; what is not understood means: in any.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::runtime {

// Sorted; empty: any. Also any if something before the comparison can fault, for the fault would have to be told.
std::vector<int32_t> wanted_pids(const dif::Difo& predicate);
// Of clauses on one probe, all of them.
std::vector<int32_t> wanted_pids(std::span<const dif::EcbDesc* const> clauses);

}  // namespace dvm::runtime
