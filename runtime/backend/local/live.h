#pragma once
// The instruments for live processes, and the one choice between them: kernel uprobes where BPF is to be had, else breakpoints
// for what those can do.

#include <memory>
#include <vector>

#include "dvm/dif/option.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

std::vector<std::unique_ptr<Instrument>> make_live_instruments(const dif::Options& options);

}  // namespace dvm::runtime
