#pragma once
// Keeps signal handlers from seeing the addresses of copied instructions that fault (raised_signals.h).
// Such a site is placed only if no handler is installed for its signals, and if dvm can take the jump off before one is
// installed. For this, the functions that install handlers, and those that change the protection of file data, are watched.

#include <cstdint>
#include <set>
#include <span>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/site_groups.h"
#include "runtime/code/raised_signals.h"

namespace dvm::runtime {

class HandlerWatch {
 public:
  // Call after a site was placed or refused. A site that was placed before is refused the next time.
  void note(const AgentSite& site);
  bool has_placed(uint64_t window) const { return placed_.contains(window); }
  // Refuses sites that raise signals which the process handles. A site in a watched function is always refused, because it could
  // only be taken off together with the watch.
  static void refuse_handled(std::span<AgentSite* const> sites, const SiteGroups& groups, SignalSet handled,
                             std::string_view reason);
  // Refuses all sites that raise signals, unless every such function of the process is watched.
  void refuse_unseen(std::span<AgentSite* const> sites) const;

 private:
  bool sees_all_of(SignalSet raises) const;

  std::set<inside::Watch> seen_, missed_;  // some functions have several addresses
  std::set<uint64_t> placed_;
};

// Refuses sites by the signals that the process handles and by the protection of file data, which is added to `watched`. All
// threads of the process must be stopped.
void refuse_raising(std::span<AgentSite* const> sites, const SiteGroups& groups, const inside::Context& context,
                    const AgentMemory& memory, inside::WatchedMemory& watched);

}  // namespace dvm::runtime
