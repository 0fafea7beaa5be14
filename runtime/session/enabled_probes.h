#pragma once
// The needs of each probe with an ECB: values to capture, processes, the place of its site. By the DIF of its clauses.

#include <vector>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// In the order of the probes of the enabling.
// may_run_at_site: nothing is counted of clauses, so an instrument may run them.
std::vector<EnabledProbe> enabled_probes(const Enabling& enabling, const dif::Options& options, bool may_run_at_site = false);

}  // namespace dvm::runtime
