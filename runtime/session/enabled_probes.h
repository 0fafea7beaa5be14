#pragma once
// Derives the needs of each probe with an ECB from the DIF of its clauses: values to capture, processes, the place of its site.

#include <vector>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// In the order of the probes of the enabling.
// may_run_at_site: clauses are not counted, so an instrument may run them where probes fire.
std::vector<EnabledProbe> enabled_probes(const Enabling& enabling, const dif::Options& options, bool may_run_at_site = false);

}  // namespace dvm::runtime
