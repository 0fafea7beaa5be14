// Probes of files that a process maps while it is traced: libraries that it opens late, the program that it becomes by exec.
// Tested by tests/runtime/scenarios/test_late.py.
//
//   the dynamic linker has mapped files ── descriptions are matched again ── ECBs on the probes that are new ── on, then it goes
//   on
//
// Only for descriptions that may mean what is not mapped yet: a module that is a glob or none, a.out, or one that matches nothing
// so far (-Z). Probes that are on already stay: the kernel puts them into every mapping of their file.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "runtime/process/process.h"
#include "runtime/session/impl.h"
#include "runtime/symbol/linker.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostChanges = 1024;  // of followed processes, in one poll

bool may_match_more(const dif::ProbeDesc& description, const Catalog& catalog) {
  return is_glob(description.module) || description.module == "a.out" || catalog.match(description).empty();
}

// What has gone meanwhile is no reason for a notice.
bool runs_program(int32_t pid) {
  const auto objects = mapped_objects(pid);
  return objects && !objects->empty();
}

}  // namespace

int32_t process_of(std::string_view provider) {
  const std::string_view digits = provider.substr(provider.find_last_not_of("0123456789") + 1);
  int32_t pid = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return pid;
}

// The processes that are traced, whether something of theirs has matched yet or not.
std::set<int32_t> Handle::Impl::roots() const {
  std::set<int32_t> all;
  if (config.target != 0) all.insert(config.target);
  for (const dif::ProbeDesc* description : enabling.descriptions())
    if (const int32_t pid = process_of(description->provider); pid > 0) all.insert(pid);
  return all;
}

// A process may end at any moment, and each step then fails for a reason of its own that says nothing.
Status Handle::Impl::after_exits(Status status, bool is_complete) const {
  if (config.is_replay || (status && is_complete)) return status;
  const std::set<int32_t> all = roots();
  const auto gone = std::find_if(all.begin(), all.end(), is_gone);
  const bool is_lost = !status || std::all_of(all.begin(), all.end(), is_gone);
  return gone == all.end() || !is_lost ? status : Error{fmt::format("process {} has exited", *gone)};
}

Status Handle::Impl::follow_forks() {
  if (config.is_replay || config.options[dif::Option::followfork] <= 0) return {};
  changes.reserve(kMostChanges);
  for (const int32_t pid : roots())
    for (auto& instrument : instruments)
      if (FollowsProcesses* follows = instrument->abilities().follows)
        if (Status status = follows->follow(pid); !status) return status;
  return {};
}

// In its place among the firings, since clauses may ask who the parent is.
bool Handle::Impl::change(const ProcessChange& change) noexcept {
  if (change.what == ProcessChange::What::forked) host.add_child(change.child, change.pid);
  changes.push_back(change);
  if (changes.size() == changes.capacity()) ends_poll = true;
  return !ends_poll;
}

void Handle::Impl::take_up_changes() {
  for (const ProcessChange& change : changes) {
    if (change.what == ProcessChange::What::execed) {
      consumer.symbols().renew(change.pid);
    } else if (change.child != 0) {
      consumer.symbols().inherit(change.child, change.pid);
      host.learn(change.child, !enabling.destructive_action().empty());
    }
  }
  changes.clear();
}

bool Handle::Impl::are_targets_gone() const {
  return targets_gone.load(std::memory_order_relaxed) &&
         std::none_of(instruments.begin(), instruments.end(), [](const auto& one) {
           FollowsProcesses* follows = one->abilities().follows;
           return follows != nullptr && follows->has_descendants();
         });
}

void Handle::Impl::watch_loads() {
  if (config.is_replay) return;
  std::set<int32_t> processes;
  for (const dif::ProbeDesc* description : enabling.descriptions())
    if (const int32_t pid = process_of(description->provider); pid > 0 && may_match_more(*description, catalog))
      processes.insert(pid);
  ElfCache files;
  for (const int32_t pid : processes) {
    const auto objects = mapped_objects(pid);
    const auto linker = objects ? find_linker(pid, *objects, files) : std::nullopt;
    if (!linker) continue;  // what is linked statically opens no libraries
    for (auto& instrument : instruments) {
      WatchesLoads* watches = instrument->abilities().watches;
      if (watches == nullptr) continue;
      if (Status status = watches->watch(*linker); !status)
        consumer.notice(fmt::format("libraries that process {} opens later are not noticed: {}", pid, status.error().message));
      activate(*instrument);
    }
    watched.push_back(pid);
  }
}

void Handle::Impl::match_late() {
  std::vector<LoadedIn> loads;
  for (Instrument* instrument : active) {
    WatchesLoads* watches = instrument->abilities().watches;
    const std::vector<LoadedIn> its = watches ? watches->take_loads() : std::vector<LoadedIn>();
    loads.insert(loads.end(), its.begin(), its.end());
  }
  if (loads.empty()) return;
  for (const LoadedIn& load : loads) {
    consumer.symbols().learn_anew(load.pid);
    for (auto& provider : providers) provider->look_in(load.root, load.pid);
  }
  if (Status status = enable_late(); !status && std::all_of(watched.begin(), watched.end(), runs_program))
    consumer.notice(fmt::format("could not enable probes of files that were mapped late: {}", status.error().message));
  for (Instrument* instrument : active)
    if (WatchesLoads* watches = instrument->abilities().watches) watches->settle();
}

Status Handle::Impl::enable_late() {
  const size_t known = catalog.size();
  const uint32_t last_id = known ? catalog.probes().back().id : 0;
  for (const dif::ProbeDesc* description : enabling.descriptions())
    if (process_of(description->provider) > 0)
      for (auto& provider : providers) provider->discover(*description, catalog);
  if (catalog.size() == known) return {};
  const auto matches = [&](const dif::ProbeDesc& description) {
    std::vector<const Probe*> found = match(description);
    std::erase_if(found, [&](const Probe* probe) { return probe->id <= last_id; });
    return found;
  };
  const size_t probes = enabling.probes().size();
  enabling.extend(matches);
  return take_up(probes);
}

// From ECBs that were just made to probes that are on.
Status Handle::Impl::take_up(size_t first_probe) {
  if (Status status = check(); !status) return status;
  if (Status status = make_room(); !status) return status;
  if (Status status = consumer.prepare(); !status) return status;
  index_probes();
  learn_processes();
  std::vector<Refused> refused;
  const std::vector<EnabledProbe> all = enabled();
  Status status = turn_on(std::span(all).subspan(first_probe), refused);
  if (!refused.empty())
    consumer.notice(fmt::format("{} probes of files that were mapped late are left out, {} of {} and others: {}", refused.size(),
                                refused[0].probe->function, refused[0].probe->module, refused[0].reason));
  return status;
}

}  // namespace dvm::runtime
