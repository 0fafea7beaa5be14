// Chooses the instruments. Covered by tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/backend/local/live.h"

#include <utility>

#include "runtime/instrument/breakpoint/breakpoint.h"
#include "runtime/instrument/timer.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {

std::vector<LiveInstrument> make_live_instruments(const dif::Options& options) {
  const auto ring_bytes = static_cast<size_t>(options[dif::Option::ringsize]);
  auto breakpoints = make_breakpoint_instrument();
  auto uprobes = make_uprobe_instrument({.ring_bytes = ring_bytes});
  const bool is_chosen = options[dif::Option::instrument] >= 0;
  const bool by_breakpoints = is_chosen ? options[dif::Option::instrument] != 0 : !may_use_bpf();
  std::vector<LiveInstrument> instruments;
  if (by_breakpoints) {
    instruments.push_back({std::move(breakpoints), ""});
    instruments.push_back({std::move(uprobes), is_chosen ? "-x instrument=breakpoint" : "BPF needs CAP_BPF and CAP_PERFMON"});
  } else {
    instruments.push_back({std::move(uprobes), ""});
    instruments.push_back(
        {std::move(breakpoints), is_chosen ? "-x instrument=uprobe" : "BPF is permitted, and a uprobe costs less"});
  }
  instruments.push_back({make_timer_instrument(), ""});
  return instruments;
}

}  // namespace dvm::runtime
