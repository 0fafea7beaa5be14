// Tested by tests/runtime/scenarios/test_late.py and test_forks.py.

#include "runtime/session/late_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/descriptor_room.h"
#include "runtime/process/emulated.h"
#include "runtime/process/process.h"
#include "runtime/symbol/linker.h"

namespace dvm::runtime {
namespace {

bool may_match_more(const dif::ProbeDesc& description, const Catalog& catalog) {
  return is_glob(description.module) || description.module == "a.out" || catalog.match(description).empty();
}

// What has gone meanwhile is no reason for a notice.
bool runs_program(int32_t pid) {
  const auto objects = mapped_objects(pid);
  return objects && !objects->empty();
}

}  // namespace

Status LateProbes::follow_forks() {
  for (const int32_t pid : probing_.roots())
    for (const auto& backend : backends_)
      if (FollowsProcesses* follows = backend->abilities().follows)
        if (Status status = follows->follow(pid); !status) return status;
  return {};
}

bool LateProbes::has_descendants() const {
  return std::any_of(backends_.begin(), backends_.end(), [](const auto& one) {
    FollowsProcesses* follows = one->abilities().follows;
    return follows != nullptr && follows->has_descendants();
  });
}

void LateProbes::take_up_changes() {
  UserSymbols& symbols = consumer_.symbols();
  for (const auto& backend : backends_)
    backend->take_addresses([&](int32_t pid, uint64_t address) { symbols.meet(pid, address); });
  symbols.meet_again();
  for (const auto& backend : backends_)
    for (const ProcessChange& change : backend->take_changes()) {
      if (change.what == ProcessChange::What::execed) {
        symbols.renew(change.pid);
      } else if (change.child != 0) {
        symbols.inherit(change.child, change.pid);
        for (const auto& each : backends_) each->learn(change.child, probing_.is_destructive());
      }
    }
}

// Also processes of which only probes that are on may be lost: then it is no news that they cannot be watched.
void LateProbes::watch_loads() {
  const bool may_lose = std::any_of(backends_.begin(), backends_.end(), [](const auto& one) {
    const WatchesLoads* watches = one->abilities().watches;
    return watches != nullptr && watches->may_lose_probes();
  });
  std::map<int32_t, bool> processes;  // and whether more of them may match
  for (const dif::ProbeDesc* description : enabling_.descriptions()) {
    const bool may_match = may_match_more(*description, catalog_);
    if (const int32_t pid = process_of(description->provider); pid > 0 && (may_match || may_lose)) processes[pid] |= may_match;
  }
  ElfCache files;
  for (const auto& [pid, may_match] : processes) {
    const auto objects = mapped_objects(pid);
    if (!objects || objects->empty()) continue;
    if (is_emulated(pid)) {
      consumer_.notice(fmt::format("process {} has no probes: {}", pid, kEmulated));
      continue;
    }
    LinkerSite none;  // what is linked statically opens no libraries, but may execute other programs
    none.pid = pid;
    const LinkerSite linker = find_linker(pid, *objects, files).value_or(none);
    const std::string later = linker.path.empty() ? fmt::format("programs that process {} executes", pid)
                                                  : fmt::format("libraries that process {} opens", pid);
    for (const auto& backend : backends_)
      if (WatchesLoads* watches = backend->abilities().watches)
        if (Status status = watches->watch(linker); !status && may_match)
          consumer_.notice(fmt::format("{} later are not noticed in time: {}", later, status.error().message));
    watched_.push_back(pid);
  }
}

void LateProbes::match_loads() {
  std::vector<LoadedIn> loads;
  for (const auto& backend : backends_)
    if (WatchesLoads* watches = backend->abilities().watches) {
      const std::vector<LoadedIn> its = watches->take_loads();
      loads.insert(loads.end(), its.begin(), its.end());
    }
  if (loads.empty()) return;
  look_for_room();
  for (const LoadedIn& load : loads) {
    consumer_.symbols().learn_anew(load.pid);
    for (auto& provider : probing_.providers()) provider->look_in(load.root, load.pid);
  }
  if (Status status = enable_loads(); !status && std::all_of(watched_.begin(), watched_.end(), runs_program))
    consumer_.notice(fmt::format("could not enable probes of files that were mapped late: {}", status.error().message));
  look_for_room();
  for (const auto& backend : backends_)
    if (WatchesLoads* watches = backend->abilities().watches) watches->settle();
}

// Each file with uprobes takes a descriptor, and so does each look at the files of a process.
void LateProbes::look_for_room() {
  if (!std::exchange(has_room_, make_descriptor_room()) || has_room_) return;
  consumer_.notice(
      "nearly all file descriptors are in use (ulimit -n): probes of libraries and programs that processes map from now on "
      "may not fire");
}

Status LateProbes::enable_loads() {
  const size_t known = catalog_.size();
  const uint32_t last_id = known ? catalog_.probes().back().id : 0;
  for (const dif::ProbeDesc* description : enabling_.descriptions())
    if (process_of(description->provider) > 0)
      for (auto& provider : probing_.providers()) provider->discover(*description, catalog_);
  return catalog_.size() == known ? Status() : probing_.extend(last_id);
}

}  // namespace dvm::runtime
