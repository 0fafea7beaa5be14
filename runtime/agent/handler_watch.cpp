#include "runtime/agent/handler_watch.h"

#include <cstddef>

#include "runtime/agent/unfit_sites.h"

namespace dvm::runtime {

void HandlerWatch::note(const AgentSite& site) {
  const bool is_function = site.watch == inside::Watch::sigaction, is_call = site.watch == inside::Watch::syscall;
  if (!is_function && !is_call) return;
  if (site.refusal.empty()) placed_.insert(site.window_address);
  is_blind_ |= !placed_.contains(site.window_address);
  sees_function_ |= is_function;
  sees_call_ |= is_call;
}

void HandlerWatch::refuse_handled(std::span<AgentSite* const> sites, const SiteGroups& groups, SignalSet handled) {
  std::set<size_t> watched;
  for (const AgentSite* site : sites)
    if (site->watch != inside::Watch::nothing) watched.insert(groups.of(*site));
  for (AgentSite* site : sites) {
    const bool is_unfit = (site->raises & handled) != 0 || (site->raises != 0 && watched.contains(groups.of(*site)));
    if (is_unfit && site->refusal.empty()) site->refusal = kRaises;
  }
}

void HandlerWatch::refuse_unseen(std::span<AgentSite* const> sites) const {
  if (sees_function_ && sees_call_ && !is_blind_) return;
  for (AgentSite* site : sites)
    if (site->raises != 0) site->refusal = kRaisesUnseen;
}

}  // namespace dvm::runtime
