// Attaching with bisection. Tested by tests/unit/instrument/uprobe_test.cpp.
#include "runtime/instrument/uprobe/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "common/descriptor_room.h"
#include "common/regular_file.h"
#include "runtime/code/function_code.h"
#include "runtime/instrument/uprobe/shield.h"
#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/process/process.h"

namespace dvm::runtime {
namespace {

// Errors that may be the fault of one probe: an instruction that the kernel cannot decode, relocate or read, a bad offset.
bool may_be_one_probe(int error_number) {
  constexpr std::array kOfAProbe = {524 /* ENOTSUPP */, EINVAL, EIO, ENOEXEC, EILSEQ, EOPNOTSUPP, EFAULT, ERANGE};
  if (lacks_uprobe_multi(kernel_release())) return false;
  return std::find(kOfAProbe.begin(), kOfAProbe.end(), error_number) != kOfAProbe.end();
}

LinkResult link_part(const UprobeSet& set, size_t from, size_t count) {
  LinkResult result;
  make_descriptor_room();
  shielded([&] {
    result = link_uprobes({set.path.c_str(), set.pid, set.is_return, set.program, std::span(set.offsets).subspan(from, count),
                           std::span(set.cookies).subspan(from, count), std::span(set.counters).subspan(from, count)});
  });
  return result;
}

Error attach_error(const Probe& probe, int error_number) {
  return kernel_error(fmt::format("cannot probe {}:{}", probe.module, probe.function), error_number);
}

// Keeps the link of a part of the set, or refuses the one probe that it was for.
Status settle(LinkResult result, const UprobeSet& set, size_t from, size_t count, std::vector<UprobeLink>& links,
              std::vector<Refused>& refused) {
  if (result.link) {
    links.push_back({std::move(result.link), count, set.pid, set.is_return || set.is_aside});
    return {};
  }
  const Probe& probe = *set.probes[from];
  if (!may_be_one_probe(result.error_number)) return attach_error(probe, result.error_number);
  // The reason names no function: that many probes may have it, and are then reported together.
  refused.push_back({&probe, kernel_reason(result.error_number)});
  return {};
}

Status attach_halves(const UprobeSet& set, size_t from, size_t count, std::vector<UprobeLink>& links,
                     std::vector<Refused>& refused) {
  if (count == 0) return {};
  LinkResult result = link_part(set, from, count);
  if (count == 1 || !may_be_one_probe(result.error_number)) return settle(std::move(result), set, from, count, links, refused);
  const size_t half = count / 2;
  if (Status status = attach_halves(set, from, half, links, refused); !status) return status;
  return attach_halves(set, from + half, count - half, links, refused);
}

// The kernel waits for a grace period (20 to 80 ms) for each failed attempt and for each link that is taken off; those of several
// threads are waited for together.
template <class Work>
void for_each_at_once(size_t count, Work&& work) {
  constexpr size_t kThreads = 16;
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t mine; (mine = next++) < count;) work(mine);
  };
  std::vector<std::thread> threads;
  try {
    for (size_t i = 1; i < std::min(kThreads, count); i++) threads.emplace_back(run);
  } catch (const std::system_error&) {  // no more threads to be had: fewer do it too
  }
  run();
  for (std::thread& thread : threads) thread.join();
}

Status attach_doubtful(const UprobeSet& set, std::vector<UprobeLink>& links, std::vector<Refused>& refused) {
  if (set.offsets.empty()) return {};
  LinkResult all = link_part(set, 0, set.offsets.size());
  if (!may_be_one_probe(all.error_number)) return settle(std::move(all), set, 0, set.offsets.size(), links, refused);
  std::vector<LinkResult> results(set.offsets.size());
  for_each_at_once(results.size(), [&](size_t i) { results[i] = link_part(set, i, 1); });
  for (size_t i = 0; i < results.size(); i++)
    if (Status status = settle(std::move(results[i]), set, i, 1, links, refused); !status) return status;
  return {};
}

Status attach_all(const UprobeSet& set, std::vector<UprobeLink>& links, std::vector<Refused>& refused) {
  const auto file = RegularFile::open(set.path);
  UprobeSet likely, doubtful;
  likely.path = doubtful.path = set.path;
  likely.pid = doubtful.pid = set.pid;
  likely.is_return = doubtful.is_return = set.is_return;
  likely.is_aside = doubtful.is_aside = set.is_aside;
  likely.program = doubtful.program = set.program;
  for (size_t i = 0; i < set.offsets.size(); i++) {
    unsigned char code[2] = {};
    const bool read = file && pread(file->fd(), code, sizeof code, static_cast<off_t>(set.offsets[i])) == sizeof code;
    (read && is_doubtful(code) ? doubtful : likely).add(set.offsets[i], set.cookies[i], set.counters[i], set.probes[i]);
  }
  if (Status status = attach_halves(likely, 0, likely.offsets.size(), links, refused); !status) return status;
  return attach_doubtful(doubtful, links, refused);
}

// Also where the uprobes of the set are not limited to it.
bool is_process_gone(const UprobeSet& set) {
  const auto* site = set.probes.empty() ? nullptr : std::get_if<UprobeSite>(&set.probes[0]->site);
  const pid_t pid = set.pid == 0 && site != nullptr ? site->pid : set.pid;
  return pid != 0 && is_gone(pid);
}

Status attach_set(const UprobeSet& set, std::vector<UprobeLink>& links, std::vector<Refused>& refused) {
  Status status = attach_all(set, links, refused);
  if (status || !is_process_gone(set)) return status;
  for (const Probe* probe : set.probes) refused.push_back({probe, "its process has ended"});
  return {};
}

// True if a refused probe has places that were not refused.
bool is_partly_on(std::span<UprobeSet* const> sets, const std::vector<Refused>& refused) {
  std::map<const Probe*, size_t> refusals, places;
  for (const Refused& one : refused) refusals[one.probe]++;
  for (const UprobeSet* set : sets)
    for (const Probe* probe : set->probes)
      if (!set->is_aside && refusals.contains(probe)) places[probe]++;
  return std::any_of(places.begin(), places.end(), [&](const auto& one) { return one.second > refusals[one.first]; });
}

}  // namespace

void UprobeSet::leave_out(const std::set<const Probe*>& left_out) {
  UprobeSet left = *this;
  for (auto* numbers : {&left.offsets, &left.cookies, &left.counters}) numbers->clear();
  left.probes.clear();
  for (size_t i = 0; i < probes.size(); i++)
    if (!left_out.contains(probes[i])) left.add(offsets[i], cookies[i], counters[i], probes[i]);
  *this = std::move(left);
}

Status attach_uprobes(std::span<UprobeSet* const> sets, std::vector<UprobeLink>& links, std::vector<Refused>& refused) {
  const size_t first = links.size();
  std::set<const Probe*> left_out;
  for (;;) {
    std::vector<Refused> its, aside;
    for (const UprobeSet* set : sets)
      if (Status status = attach_set(*set, links, set->is_aside ? aside : its); !status) return status;
    const bool is_partly = is_partly_on(sets, its);
    for (Refused& one : its)
      if (left_out.insert(one.probe).second) refused.push_back(std::move(one));
    if (!is_partly) return {};
    detach(links, first);
    for (UprobeSet* set : sets) set->leave_out(left_out);
  }
}

bool may_use_bpf() { return may_load_programs(); }

void refuse_without_rights(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
  if (probes.empty() || may_use_bpf()) return;
  for (const EnabledProbe& one : probes) refused.push_back({one.probe, kNoRights});
}

// For each uprobe of a link, the kernel takes a lock that all processes share. Threads that close large links at once hand it to
// each other, each time with a switch: two links of 10,000 uprobes then take 14 s and more instead of 0.3 s.
void detach(std::vector<UprobeLink>& links, size_t first) {
  constexpr size_t kLarge = 16;
  std::mutex closes_large;
  for_each_at_once(links.size() - first, [&](size_t i) {
    UprobeLink& link = links[first + i];
    std::unique_lock turn(closes_large, std::defer_lock);
    if (link.uprobes >= kLarge) turn.lock();
    shielded([&] { link.descriptor = FileDescriptor(); });
  });
  links.resize(first);
}

std::vector<UprobeLink> take_returns(std::vector<UprobeLink>& links, const std::set<int32_t>& processes) {
  const auto is_other = [&](const UprobeLink& link) { return !link.is_return || !processes.contains(link.pid); };
  const auto returns = std::ranges::stable_partition(links, is_other);
  std::vector<UprobeLink> taken(std::make_move_iterator(returns.begin()), std::make_move_iterator(returns.end()));
  links.erase(returns.begin(), returns.end());
  return taken;
}

void detach_ended(std::vector<UprobeLink>& links) {
  const auto ended =
      std::ranges::stable_partition(links, [](const UprobeLink& link) { return link.pid == 0 || !is_gone(link.pid); });
  detach(links, links.size() - ended.size());
}

}  // namespace dvm::runtime
