// How an AgentProcess maps its memory in the process. Tested by tests/runtime/scenarios/test_agent.py.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/agent/code_area.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/file_data.h"
#include "runtime/agent/inside_code.h"
#include "runtime/agent/lasting_memory.h"
#include "runtime/agent/mapping_plan.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/site_room.h"
#include "runtime/agent/target_check.h"
#include "runtime/agent/unfit_sites.h"
#include "runtime/agent/unmap.h"
#include "runtime/agent/unstopped.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = CodeArea::kPageBytes;
constexpr uint64_t kClose = 3, kMmap = 9, kMadvise = 28, kPwrite = 18, kFtruncate = 77, kMemfdCreate = 319;
constexpr uint64_t kWipeOnFork = 18, kDontDump = 16, kCloseOnExec = 1;
constexpr uint64_t kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
constexpr const char* kNoThreadNumber = "its C library has set up no thread-local storage; -x evaltime=main waits until it has";
constexpr int kAttempts = 4;  // to find no other mapping in its room
constexpr size_t kMostAreas = 16;

RemoteCall map_at(const AddressRange& range, int protection, bool adds_last = false) {
  const uint64_t bytes = range.end - range.begin;
  return {kMmap, {range.begin, bytes, static_cast<uint64_t>(protection), kAnonymous, UINT64_MAX, 0}, false, adds_last};
}

}  // namespace

// Sites that lie near each other share a mapping.
std::vector<AgentProcess::Area> AgentProcess::divide(std::vector<AgentSite>& sites,
                                                     const std::vector<MemoryMapping>& mappings) const {
  std::vector<AgentSite*> sorted;
  for (AgentSite& site : sites)
    if (site.refusal.empty()) sorted.push_back(&site);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->window_address < b->window_address; });
  std::vector<Area> areas;
  for (AgentSite* site : sorted) {
    if (areas.empty() || site->range().end - areas.back().near.begin > kReach / 2) areas.emplace_back().near = site->range();
    Area& area = areas.back();
    area.near.end = std::max(area.near.end, site->range().end);
    area.sites.push_back(site);
    area.wanted += room_of(*site, context_);
  }
  std::vector<MemoryMapping> taken = mappings;
  for (Area& area : areas) {
    const uint64_t fixed = align(inside_code().size(), 16) + align(lasting_.bytes().size(), 16) + align(sizeof context_, 16) +
                           CodeArea::fixed_frame_bytes() + CodeArea::kRestartRoom;
    const uint64_t bytes = align(2 * kPageBytes + fixed + area.wanted, kPageBytes);
    if (const auto gap = find_gap(taken, area.near, bytes)) area.range = {*gap, *gap + bytes};
    taken.push_back({area.range, true, "", false});
    std::sort(taken.begin(), taken.end(),
              [](const MemoryMapping& a, const MemoryMapping& b) { return a.range.begin < b.range.begin; });
  }
  return areas;
}

// Which of what the process was to map it has mapped.
AgentProcess::Mapped AgentProcess::find_mapped(const std::vector<Area>& areas) const {
  const auto mappings = mappings_of(context_.pid);
  const auto has = [&](uint64_t address, bool is_executable) {
    return mappings && std::any_of(mappings->begin(), mappings->end(), [&](const MemoryMapping& one) {
             return one.range.begin == address && one.is_executable == is_executable &&
                    (one.path.empty() || one.path.starts_with(kDataName));
           });
  };
  return {std::all_of(areas.begin(), areas.end(), [&](const Area& one) { return has(one.range.begin, true); }),
          has(context_.armed, false) && has(semaphores_at(), false) && has(context_.data, false)};
}

// The armed page and the lanes: anywhere, since no instruction says how far they are.
Status AgentProcess::place_data(const std::vector<MemoryMapping>& mappings, std::vector<Area>& areas) {
  if (is_data_mapped()) return {};
  std::vector<MemoryMapping> taken = mappings;
  for (const Area& area : areas) taken.push_back({area.range, true, "", false});
  std::sort(taken.begin(), taken.end(),
            [](const MemoryMapping& a, const MemoryMapping& b) { return a.range.begin < b.range.begin; });
  constexpr uint64_t kBefore = inside::semaphores_at(0) + inside::kSemaphoreBytes;
  const uint64_t room = data_bytes() + kBefore;
  const auto gap = find_far_gap(taken, room);
  if (!gap) return Error{"there is no room for its firings in its address space"};
  context_.armed = *gap;
  context_.data = *gap + kBefore;
  context_.variables = context_.data + inside::variables_at(context_.lanes);
  context_.tails = context_.data + inside::tails_at(context_.lanes, context_.ring_bytes);
  context_.lane = context_.data + sizeof(inside::DataHeader);
  return {};
}

// registers: for the restarts of readers. If that fails, no memory is steady.
std::vector<RemoteCall> AgentProcess::calls_for(const std::vector<Area>& areas, bool registers) const {
  std::vector<RemoteCall> calls;
  const uint64_t armed = context_.armed, bytes = data_bytes();
  const auto map_code = [&] {
    for (const Area& area : areas) calls.push_back(map_at(area.range, PROT_READ | PROT_EXEC));
    return calls;
  };
  if (registers) calls.push_back({kMembarrier, {kRegisterRestarts, 0, 0, 0, 0, 0}});
  if (is_data_mapped()) return map_code();
  if (is_ordered_) calls.push_back({kMembarrier, {kRegisterForAll, 0, 0, 0, 0, 0}});
  calls.push_back(map_at({armed, armed + 1}, PROT_READ | PROT_WRITE, is_ordered_));  // fails with the call before
  calls.push_back({kMadvise, {armed, kPageBytes, kWipeOnFork, 0, 0, 0}});
  calls.push_back(map_at({semaphores_at(), semaphores_at() + inside::kSemaphoreBytes}, PROT_READ | PROT_WRITE));
  calls.push_back(kRemoteWait);  // while dvm stops the other threads, which would see the descriptor
  calls.push_back({kMemfdCreate, {kRemoteText, kCloseOnExec, 0, 0, 0, 0}, true});
  calls.push_back({kFtruncate, {kFirstResult, bytes, 0, 0, 0, 0}});
  calls.push_back({kPwrite, {kFirstResult, kRemoteData, plan_bytes(areas.size()), plan_at({0, bytes}), 0, 0}});
  calls.push_back({kMmap, {context_.data, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, kFirstResult, 0}});
  calls.push_back({kMadvise, {context_.data, bytes, kDontDump, 0, 0, 0}});  // a core file would hold all lanes, used or not
  calls.push_back(kRemoteWait);                                             // while dvm opens the file
  calls.push_back({kClose, {kFirstResult, 0, 0, 0, 0, 0}});
  return map_code();
}

MappingPlan AgentProcess::plan_for(const std::vector<Area>& areas) {
  static_assert(kMostAreas <= kMostPlanned);
  std::vector<AddressRange> code;
  for (const Area& area : areas) code.push_back(area.range);
  return plan_of(code);
}

// By the link of its descriptor; one that has the whole size.
void AgentProcess::open_data_file() {
  const std::string name = fmt::format("/memfd:{}{}", kRemoteTextBegins, tracer_pid());
  std::error_code error, unread;
  std::filesystem::directory_iterator one(fmt::format("/proc/{}/fd", context_.pid), error);
  for (; !error && one != std::filesystem::directory_iterator(); one.increment(error)) {
    if (!std::filesystem::read_symlink(one->path(), unread).string().starts_with(name)) continue;
    FileDescriptor file(::open(one->path().c_str(), O_RDWR | O_CLOEXEC));
    struct stat status {};
    if (file && fstat(file.get(), &status) == 0 && static_cast<uint64_t>(status.st_size) == data_bytes())
      data_file_ = std::move(file);
  }
}

// note_watch() will let stubs make system calls. A static program may be without the functions that it waits for.
bool AgentProcess::can_ask_for_threads(const std::vector<Area>& areas) const {
  const auto is_watched = [&](inside::Watch watch) {
    const auto watches_it = [&](const Area& area) { return runtime::watches(area.sites, watch); };
    return watched_.contains(watch) || std::any_of(areas.begin(), areas.end(), watches_it);
  };
  return is_watched(inside::Watch::prctl) && is_watched(inside::Watch::syscall);
}

Status AgentProcess::map(std::vector<Area>& areas, const BeginData& begin) {
  const bool has_data = is_data_mapped();
  const MappingPlan plan = plan_for(areas);
  const auto planned = std::as_bytes(std::span(&plan, 1)).first(plan_bytes(areas.size()));
  if (has_data && !memory_.write(plan_at({context_.data, context_.data + data_bytes()}), planned))
    return Error{"the mapped memory cannot be written"};
  {
    auto stopped = StoppedProcess::stop(context_.pid);
    if (!stopped) return stopped.error();
    if (restricts_calls(*stopped)) return Error{kIntercepted};
    if (context_.thread_offset == 0) context_.thread_offset = find_thread_offset(*stopped, memory_);
    if (context_.thread_offset == 0 && !can_ask_for_threads(areas)) return Error{kNoThreadNumber};
    const std::vector<RemoteCall> calls = calls_for(areas, find_restarts(*stopped, areas));
    stopped->let_go_but_one();  // to register for membarrier takes milliseconds where there are several
    bool are_held = false;
    const auto at_wait = [&] {
      if (std::exchange(are_held, true)) return open_data_file(), true;
      if (stopped->hold_all()) return true;
      // The thread unmaps it from where it waits: if dvm is killed, it goes on to the mapping by which all is found.
      unmap_unwritten(*stopped, plan, has_data);
      return false;
    };
    has_mapped_ = true;
    if (Status called = make_remote_calls(*stopped, memory_, calls, at_wait, planned); !called) {
      // By the same thread, since another may be what does not stop; unless it is still in the code of these calls.
      if (remote_pieces(context_.pid, memory_).empty()) unmap_unwritten(*stopped, plan, has_data);
      return called;
    }
  }
  const Mapped mapped = find_mapped(areas);
  const bool is_begun = has_data || begin_data(begin);
  if (!is_begun || !mapped.data) data_file_ = FileDescriptor();
  if (is_data_mapped() && mapped.areas) return {};
  if (auto stopped = StoppedProcess::stop(context_.pid)) {
    stopped->prefer_waiting();
    unmap_unwritten(*stopped, plan, has_data);
  }
  return Error{"the process may not map the memory that the agent needs"};
}

// What the process has mapped, if it could not map all. Its first thread unmaps it.
void AgentProcess::unmap_unwritten(StoppedProcess& stopped, const MappingPlan& plan, bool keeps_data) {
  const uint64_t data = context_.data;
  if (!keeps_data) data_file_ = FileDescriptor();
  const auto mappings = mappings_of(context_.pid);
  if (!mappings) return;
  const UnwrittenMappings its = unwritten_of(memory_, *mappings, data, plan);
  std::vector<AddressRange> ranges = its.code;
  if (!keeps_data) {
    ranges.insert(ranges.end(), its.around.begin(), its.around.end());
    const MemoryMapping* mapped = mapping_at(*mappings, data);
    const std::string name = fmt::format("{}{} ", kDataName, tracer_pid());
    if (mapped != nullptr && mapped->range.begin == data && (mapped->path + " ").starts_with(name))
      ranges.push_back(mapped->range);
  }
  if (!ranges.empty()) unmap_ranges(stopped, memory_, ranges);
}

// Nothing is on.
void AgentProcess::unmap_all() {
  detach_all();
  data_file_ = FileDescriptor();
  own_ = {};
  guard_.reset();
  locks_.clear();
}

void AgentProcess::detach_all() {
  (void)detach_agents(context_.pid, memory_, WhichAgents::of_this_tracer, tracer_pid(), Mappings::unmap);
}

void AgentProcess::unmap_left(uint64_t now) {
  constexpr uint64_t kBetween = 500'000'000;
  if (unmappings_ == 0 || is_on_ || is_data_mapped() || now - unmapped_ < kBetween) return;
  unmapped_ = now, unmappings_--;
  work_unstopped(context_.pid, [&] { detach_all(); });
}

// The program may get ENOMEM later for what the agent takes.
Status AgentProcess::check_space(const std::vector<Area>& areas) const {
  constexpr uint64_t kMostPart = 4, kMebibyte = 1 << 20;
  const uint64_t left = free_address_space(context_.pid);
  uint64_t bytes = is_data_mapped() ? 0 : data_bytes() + context_.data - context_.armed;
  for (const Area& area : areas) bytes += area.range.end - area.range.begin;
  if (left == UINT64_MAX || bytes <= left / kMostPart) return {};
  return Error{
      fmt::format("its address space is limited (ulimit -v): the agent would take {} MiB, more than a quarter of the {} MiB left",
                  align(bytes, kMebibyte) / kMebibyte, left / kMebibyte)};
}

// Finds room for the sites that are not refused, and lets the process map it. One of its threads may take the room meanwhile.
Result<std::vector<AgentProcess::Area>> AgentProcess::place(std::vector<AgentSite>& sites, const BeginData& begin) {
  for (int attempt = 1;; attempt++) {
    const auto mappings = mappings_of(context_.pid);
    if (!mappings) return mappings.error();
    lasting_ = lasting_memory(context_.pid, *mappings);
    std::vector<Area> areas = divide(sites, *mappings);
    std::erase_if(areas, [](const Area& area) {
      for (AgentSite* site : area.sites)
        if (area.range.begin == 0) site->refusal = "there is no room for code within 2 GiB of it";
      return area.range.begin == 0;
    });
    if (areas.empty()) return areas;
    if (areas.size() > kMostAreas) return Error{"the probed code is in too many places"};
    if (Status placed = place_data(*mappings, areas); !placed) return placed.error();
    if (Status fits = check_space(areas); !fits) return fits.error();
    note_code(sites, *mappings, own_);
    const Status mapped = map(areas, begin);
    if (mapped) return areas;
    if (attempt == kAttempts) return mapped.error();
  }
}

}  // namespace dvm::runtime
