// Tested by tests/runtime/scenarios/test_other_returns.py.
#include "runtime/instrument/uprobe/return_review.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>

#include "runtime/process/thread_status.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

// Where sites are mapped in a process.
class Breakpoints {
 public:
  Breakpoints(int32_t pid, const std::set<const UprobeSite*>& sites)
      : memory_(open((memory_folder(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {
    std::map<std::string, FileOffsets> files;
    for (const UprobeSite* site : sites)
      if (site->pid == pid) files[site->path].push_back(site->offset);
    std::ifstream maps(memory_folder(pid) + "/maps");
    MapsLine parsed;
    for (std::string line; std::getline(maps, line);)
      if (parse_maps_line(line, parsed) && parsed.executable)
        for (const auto& [path, offsets] : files) add(parsed, path, offsets);
  }

  bool is_any_left() const {
    return std::ranges::any_of(addresses_, [this](uint64_t one) { return is_breakpoint(one); });
  }

 private:
  using FileOffsets = std::vector<uint64_t>;

  void add(const MapsLine& mapping, const std::string& path, const FileOffsets& offsets) {
    struct stat file {};
    AddressRange range;
    if (stat(path.c_str(), &file) != 0 || file.st_ino != mapping.inode || file.st_dev != mapping.device) return;
    if (!mapping.addresses(range)) return;
    for (const uint64_t offset : offsets)
      if (offset >= mapping.offset && offset - mapping.offset < range.end - range.begin)
        addresses_.push_back(range.begin + (offset - mapping.offset));
  }
  bool is_breakpoint(uint64_t address) const {
    unsigned char byte = 0;
    return pread(memory_.get(), &byte, 1, static_cast<off_t>(address)) == 1 && byte == 0xcc;
  }

  FileDescriptor memory_;
  std::vector<uint64_t> addresses_;
};

// The process spins while it waits, and others may want the CPUs, too. Without CAP_SYS_NICE the thread stays as it is.
void hurry() { setpriority(PRIO_PROCESS, 0, -20); }

}  // namespace

std::vector<LostProbe> lost_of(std::span<const EnabledProbe> probes, std::span<const Refused> refused, const Status& placed) {
  std::vector<LostProbe> lost;
  for (const EnabledProbe& one : probes) {
    const auto its = std::ranges::find(refused, one.probe, &Refused::probe);
    if (!placed || its != refused.end()) lost.push_back({one, placed ? its->reason : placed.error().message});
  }
  return lost;
}

void ReturnReview::add(const PlannedSite& place) {
  if (!place.hazards || place.enabled->returns != ReturnBy::safe) return;
  Reviewed& process = processes_.try_emplace(place.site->pid, Reviewed{*place.hazards, {}, {}}).first->second;
  process.probes.try_emplace(place.enabled->probe, *place.enabled);
  process.sites.insert(place.site);
}

void ReturnReview::forget(std::span<const Refused> refused) {
  for (auto& [pid, process] : processes_)
    for (const Refused& one : refused) process.probes.erase(one.probe);
}

ReturnReview::Unsafe ReturnReview::take_unsafe(std::span<const LoadedIn> loads) {
  Unsafe all;
  for (const LoadedIn& load : loads) {
    const auto process = processes_.find(load.pid);
    if (process == processes_.end()) continue;
    const auto now = reader_.of(load.pid);
    if (!now || !now->exceeds(process->second.hazards)) continue;
    for (auto& [probe, enabled] : process->second.probes) all.probes.push_back(std::move(enabled));
    all.sites.merge(process->second.sites);
    all.processes.insert(load.pid);
    processes_.erase(process);
  }
  return all;
}

void ReturnReview::take_off(std::vector<UprobeLink> links, const Unsafe& unsafe) {
  constexpr auto kMost = std::chrono::milliseconds(1500);
  constexpr auto kPause = std::chrono::microseconds(200), kForEach = std::chrono::microseconds(20);
  std::vector<Breakpoints> left;
  for (const int32_t pid : unsafe.processes) left.emplace_back(pid, unsafe.sites);
  const auto end = std::chrono::steady_clock::now() + kMost;
  for (UprobeLink& link : links) {
    const auto breakpoints_gone = kForEach * link.uprobes;  // threads that close links at once would wait for each other
    std::vector<UprobeLink> one;
    one.push_back(std::move(link));
    closing_.emplace_back([one = std::move(one)]() mutable {
      hurry();
      detach(one);
    });
    std::this_thread::sleep_for(breakpoints_gone);
  }
  while (std::ranges::any_of(left, &Breakpoints::is_any_left) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPause);
}

void ReturnReview::finish() {
  for (std::thread& thread : closing_) thread.join();
  closing_.clear();
}

}  // namespace dvm::runtime
