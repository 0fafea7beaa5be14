#include "runtime/agent/handler_watch.h"

#include <algorithm>
#include <cstddef>

#include "runtime/agent/file_data.h"
#include "runtime/agent/unfit_sites.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {

void HandlerWatch::note(const AgentSite& site) {
  if (site.watch == inside::Watch::nothing) return;
  if (site.refusal.empty()) placed_.insert(site.window_address);
  (placed_.contains(site.window_address) ? seen_ : missed_).insert(site.watch);
}

// Not all of those that change file data are in every process.
bool HandlerWatch::sees_all_of(SignalSet raises) const {
  using inside::Watch;
  const auto sees = [&](Watch one) { return seen_.contains(one) && !missed_.contains(one); };
  const auto always = sees;
  const auto maybe = [&](Watch one) { return !missed_.contains(one); };
  bool sees_data = true;
#define DVM_MEMORY_FUNCTION(function, call, presence) sees_data &= presence(Watch::function);
#include "runtime/agent/inside/memory_functions.def"
  const bool is_by_signals = (raises & ~kFileData) != 0, is_by_data = (raises & kFileData) != 0;
  return sees(Watch::syscall) && (!is_by_signals || sees(Watch::sigaction)) && (!is_by_data || sees_data);
}

void HandlerWatch::refuse_handled(std::span<AgentSite* const> sites, const SiteGroups& groups, SignalSet handled,
                                  std::string_view reason) {
  std::set<size_t> watched;
  for (const AgentSite* site : sites)
    if (site->watch != inside::Watch::nothing) watched.insert(groups.of(*site));
  for (AgentSite* site : sites) {
    const bool is_unfit = (site->raises & handled) != 0 || (site->raises != 0 && watched.contains(groups.of(*site)));
    if (is_unfit && site->refusal.empty()) site->refusal = reason;
  }
}

void HandlerWatch::refuse_unseen(std::span<AgentSite* const> sites) const {
  for (AgentSite* site : sites)
    if (site->raises != 0 && !sees_all_of(site->raises)) site->refusal = kRaisesUnseen;
}

void refuse_raising(std::span<AgentSite* const> sites, const SiteGroups& groups, const inside::Context& context,
                    const AgentMemory& memory, inside::WatchedMemory& watched) {
  uint64_t handled = 0;
  memory.read_object(context.data + offsetof(inside::DataHeader, handled), handled);
  handled = (handled & kFileData) | (handled_signals(context.pid) & ~kFileData);
  const bool follows = context.follows != 0;
  HandlerWatch::refuse_handled(sites, groups, follows ? kAllSignals : handled, follows ? kRaisesInChild : kRaises);
  const auto addresses_data = [](const AgentSite* site) { return (site->raises & kFileData) != 0 && site->refusal.empty(); };
  if (std::none_of(sites.begin(), sites.end(), addresses_data)) return;
  const auto mappings = mappings_of(context.pid);
  watch_file_data(sites, mappings ? *mappings : std::vector<MemoryMapping>(), watched);
  memory.write_object(context.own + sizeof(inside::OwnMemory), watched);
}

}  // namespace dvm::runtime
