// Plans breakpoints and stops at system calls. Covered by
// tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/instrument/breakpoint/plan.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "runtime/instrument/breakpoint/debug_register.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kLeastStackBytes = 16384;

// Address of this place of a file in the process; none if the process has not mapped it as code.
std::optional<uint64_t> address_of(const std::vector<MappedObject>& objects, const UprobeSite& site) {
  for (const MappedObject& object : objects)
    if (object.open_path == site.path && object.address != 0 && site.offset >= object.offset)
      return object.address + (site.offset - object.offset);
  return std::nullopt;
}

FiredProbe::Kind kind_of(const UprobeSite& site) {
  if (site.is_return) return FiredProbe::Kind::call;
  return site.inside ? FiredProbe::Kind::inside : FiredProbe::Kind::entry;
}

// Likewise, whatever its path is now. If the file at the path has been replaced, the one at the same address (0: it had none) is
// still the old one: a user cannot open it.
std::optional<uint64_t> address_of(const std::vector<MappedObject>& objects, const FiredProbe& firer, uint64_t before) {
  for (const MappedObject& object : objects) {
    if (object.address == 0 || firer.site->offset < object.offset) continue;
    const auto file = FileKey::of(object.open_path);
    const uint64_t address = object.address + (firer.site->offset - object.offset);
    const bool is_same = object.open_path == firer.site->path && address == before;
    if (is_same || (file && *file == firer.file)) return address;
  }
  return std::nullopt;
}

void put_in_order(std::vector<FiredProbe>& firers) {
  std::stable_sort(firers.begin(), firers.end(), [](const FiredProbe& a, const FiredProbe& b) { return a.kind < b.kind; });
}

// If not, the caller refuses the process as a whole, and its code need not be read.
bool has_room(const TracedProcesses& processes, pid_t pid) {
  const auto process = processes.find(pid);
  return process == processes.end() || process->second.registers() <= kDebugRegisters;
}

// A thread that stands still has all its registers and its stack, also in a
// system call.
SiteShape shape_of_call(const KernelEvent& event) {
  SiteShape shape = SiteKind::inside;
  for (size_t n = 0; n < event.args.size(); n++) shape.args[n] = event.args[n].operand;
  if (event.tracepoint == "sys_exit") shape.error = Operand::of_kind(Operand::Kind::error);
  return shape;
}

}  // namespace

Status BreakpointPlanner::add(const EnabledProbe& enabled, TracedProcesses& processes, std::vector<Refused>& refused) {
  if (const auto* site = std::get_if<UprobeSite>(&enabled.probe->site)) {
    if (Status status = add_site(enabled, *site, processes, refused); !status) return status;
    for (const UprobeSite& further : enabled.probe->more_sites)
      if (Status status = add_site(enabled, further, processes, refused); !status) return status;
    return {};
  }
  for (const KernelEvent& event : std::get<TracepointSite>(enabled.probe->site).events)
    if (Status status = add_event(enabled, event, processes, refused); !status) return status;
  return {};
}

Status BreakpointPlanner::add_site(const EnabledProbe& enabled, const UprobeSite& site, TracedProcesses& processes,
                                   std::vector<Refused>& refused) {
  const auto refuse = [&](std::string_view why) {
    refused.push_back({enabled.probe, std::string(why)});
    return Status();
  };
  if (site.semaphore != 0)
    return refuse("its semaphore would stay raised if dvm were killed; with CAP_BPF and CAP_PERFMON the kernel lowers it");
  const auto address = address_of(objects(site.pid), site);
  if (!address) return refuse("its file is not mapped as code");
  const std::string_view harm = has_room(processes, site.pid) ? harm_at(site) : "";
  if (!harm.empty()) return refuse(harm);
  FiredAt fired{enabled.probe->id, site.behind, {}};
  if (site.is_return) fired.exit = only_exit(site);
  const auto cookie = make_cookie_of(enabled, fired, shape_of(site), site.pid);
  if (!cookie) return cookie.error();
  TracedProcess& process = processes[site.pid];
  process.has_returns |= site.is_return;
  std::vector<FiredProbe>& firers = process.sites[*address + site.behind];
  const auto file = FileKey::of(site.path);
  firers.push_back({kind_of(site), *cookie, &site, file ? *file : FileKey()});
  put_in_order(firers);
  return {};
}

bool BreakpointPlanner::move(pid_t pid, TracedProcess& process) {
  objects_.erase(pid);
  if (objects(pid).empty()) return false;  // it has ended, or cannot be examined
  TracedProcess moved;
  const auto put = [&](const std::vector<FiredProbe>& firers, uint64_t known) {
    for (const FiredProbe& firer : firers) {
      const uint64_t offset = firer.site->offset + firer.site->behind;
      const auto address = address_of(objects(pid), firer, known - firer.site->behind);
      (address ? moved.sites[*address + firer.site->behind] : moved.absent[{firer.file, offset}]).push_back(firer);
    }
  };
  for (const auto& [known, firers] : process.sites) put(firers, known);
  for (const auto& [known, firers] : process.absent) put(firers, 0);
  for (auto& [address, firers] : moved.sites) put_in_order(firers);
  const auto is_same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const bool moves = !std::equal(moved.sites.begin(), moved.sites.end(), process.sites.begin(), process.sites.end(), is_same);
  process.sites = std::move(moved.sites), process.absent = std::move(moved.absent);
  return moves;
}

Status BreakpointPlanner::add_event(const EnabledProbe& enabled, const KernelEvent& event, TracedProcesses& processes,
                                    std::vector<Refused>& refused) {
  if (enabled.needs.kernel_frames != 0) {
    refused.push_back({enabled.probe, "without BPF there is no kernel stack, for stack(), caller and stackdepth"});
    return {};
  }
  if (enabled.wanted.pids.empty()) {
    refused.push_back({enabled.probe,
                       "system calls of all processes need CAP_BPF and CAP_PERFMON; without these, name your own processes in a "
                       "predicate, such as /pid == $target/"});
    return {};
  }
  for (const pid_t pid : enabled.wanted.pids) {
    if (pid == getpid()) continue;
    const auto cookie = make_cookie_of(enabled, {enabled.probe->id, 0, {}}, shape_of_call(event), pid);
    if (!cookie) return cookie.error();
    TracedProcess& process = processes[pid];
    for (const uint16_t call : event.calls)
      (event.tracepoint == "sys_exit" ? process.ends : process.begins)[call].push_back(*cookie);
  }
  return {};
}

// Memory is read while the thread stands still, when the VM asks for it.
Result<uint64_t> BreakpointPlanner::make_cookie_of(const EnabledProbe& enabled, const FiredAt& fired, const SiteShape& shape,
                                                   pid_t pid) {
  CaptureNeeds needs = enabled.needs;
  needs.memory.clear(), needs.keeps.clear(), needs.process_numbers = 0,
                                             needs.any_file = needs.command = needs.ancestors = needs.directory = false;
  needs.thread = true;
  if (needs.frames != 0) {
    needs.stack_bytes = needs.stack_bytes == kWhereNeeded ? kLeastStackBytes : std::max(kLeastStackBytes, needs.stack_bytes);
    delivery_.unwinder().learn(pid);
  }
  const auto group = delivery_.share(make_layout(possible_needs(needs, shape), shape), pid, fired);
  if (!group) return group.error();
  return make_cookie(delivery_.number(fired), *group);
}

// The place where the function is left, if there is only one; the return address of a call does not tell which exit was taken.
uint32_t BreakpointPlanner::only_exit(const UprobeSite& site) {
  const auto file = files_.open(site.path);
  if (file == nullptr) return 0;
  const ReturnPlan plan = returns_.plan(site, file.get());
  return plan.exits.size() == 1 ? plan.exits.front() : plan.only_exit.value_or(0);
}

// Empty: none.
std::string_view BreakpointPlanner::harm_at(const UprobeSite& site) {
  const auto file = files_.open(site.path);
  if (file == nullptr) return "its file cannot be read, so it is not known what a breakpoint there would do";
  if (is_signal_return(file->file(), site.offset + site.behind)) return kNestsHandlers;
  if (!file->is_restartable(site.offset + site.behind)) return {};
  return "it lies in a restartable sequence (rseq), which a breakpoint would interrupt each time it starts again";
}

const std::vector<MappedObject>& BreakpointPlanner::objects(pid_t pid) {
  const auto [known, is_new] = objects_.try_emplace(pid);
  if (is_new)
    if (auto found = mapped_objects(pid)) known->second = std::move(*found);
  return known->second;
}

}  // namespace dvm::runtime
