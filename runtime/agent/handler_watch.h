#pragma once
// Sites whose copied instructions raise signals by faults (raised_signals.h), and handlers of these signals. Such a handler would
// see the address of the copy, so the site is placed only if no handler is installed, and none can be before dvm takes the jump
// off: the functions by which a process installs handlers are watched, and those by which it changes what may be done with data
// of its files.
//
// Tested by tests/unit/instrument/handler_watch_test.cpp and tests/runtime/scenarios/test_agent_faults.py.

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
  // The site was placed, or refused. One that was placed before is refused the next time.
  void note(const AgentSite& site);
  // Refuses sites that raise signals which the process handles. One in a function that is watched would have to be taken off with
  // the watch, so it is refused whatever is handled.
  static void refuse_handled(std::span<AgentSite* const> sites, const SiteGroups& groups, SignalSet handled);
  // Refuses all that raise signals, unless every such function of the process is watched by now.
  void refuse_unseen(std::span<AgentSite* const> sites) const;

 private:
  bool sees_all_of(SignalSet raises) const;

  std::set<inside::Watch> seen_, missed_;  // some functions have several addresses
  std::set<uint64_t> placed_;
};

// All threads of the process stand still. Refuses sites by what it handles, and by what it may do with data of its files, which
// is added to what its stubs watch.
void refuse_raising(std::span<AgentSite* const> sites, const SiteGroups& groups, const inside::Context& context,
                    const AgentMemory& memory, inside::WatchedMemory& watched);

}  // namespace dvm::runtime
