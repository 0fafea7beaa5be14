#pragma once
// What each probe with an ECB needs: values to capture, processes, the place of its site. By the DIF of its clauses.

#include <vector>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// In the order of the probes of the enabling.
std::vector<EnabledProbe> enabled_probes(const Enabling& enabling, const dif::Options& options);

}  // namespace dvm::runtime
