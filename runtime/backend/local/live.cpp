// Chooses the instruments. Covered by tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/backend/local/live.h"

#include "runtime/instrument/breakpoint/breakpoint.h"
#include "runtime/instrument/timer.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {

std::vector<std::unique_ptr<Instrument>> make_live_instruments(const dif::Options& options) {
  std::vector<std::unique_ptr<Instrument>> instruments;
  const bool is_chosen = options[dif::Option::instrument] >= 0;
  const bool by_breakpoints = is_chosen ? options[dif::Option::instrument] != 0 : !may_use_bpf();
  if (by_breakpoints) instruments.push_back(make_breakpoint_instrument());
  const auto ring_bytes = static_cast<size_t>(options[dif::Option::ringsize]);
  instruments.push_back(make_uprobe_instrument({.ring_bytes = ring_bytes}));  // what it has not taken
  instruments.push_back(make_timer_instrument());
  return instruments;
}

}  // namespace dvm::runtime
