// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/agent_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "common/clock.h"
#include "common/file_bytes.h"
#include "runtime/agent/code_area.h"
#include "runtime/agent/code_pages.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/file_data.h"
#include "runtime/agent/inside/steady.h"
#include "runtime/agent/inside_code.h"
#include "runtime/agent/lasting_memory.h"
#include "runtime/agent/mapping_plan.h"
#include "runtime/agent/other_jumps.h"
#include "runtime/agent/patches.h"
#include "runtime/agent/site_room.h"
#include "runtime/agent/stub.h"
#include "runtime/agent/target_check.h"
#include "runtime/agent/text_code.h"
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

Result<AgentProcess> AgentProcess::open(pid_t pid, uint32_t lanes, uint32_t ring_bytes, bool follows) {
  if (Status fit = check_target(pid, follows); !fit) return fit.error();
  auto memory = AgentMemory::open(pid);
  if (!memory) return memory.error();
  if (Status cleared = clear_away(pid, *memory); !cleared) return cleared.error();
  inside::Context context{.pid = pid, .lanes = lanes, .ring_bytes = ring_bytes, .follows = follows ? 1U : 0U};
  context.own_pid = static_cast<uint64_t>(own_id(pid, pid));
  return AgentProcess(*std::move(memory), context);
}

// But for the header, which children that were forked still read.
AgentProcess::~AgentProcess() {
  if (!data_file_) return;
  const auto begin = static_cast<off_t>(kPageBytes), bytes = static_cast<off_t>(data_bytes() - kPageBytes);
  (void)fallocate(data_file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, bytes);
}

// What is left of the last page has the plan.
uint64_t AgentProcess::data_bytes() const {
  constexpr uint64_t kFewestLanes = 32;
  static_assert(kPageBytes - inside::data_bytes(kFewestLanes, kPageBytes) % kPageBytes >= sizeof(MappingPlan));
  return align(inside::data_bytes(context_.lanes, context_.ring_bytes), kPageBytes);
}

uint64_t AgentProcess::globals_at() const { return context_.data + inside::globals_at(context_.lanes, context_.ring_bytes); }

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
  context_.variables = context_.data + inside::variables_at(context_.lanes, context_.ring_bytes);
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
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", context_.pid), error)) {
    std::error_code unread;
    if (!std::filesystem::read_symlink(entry.path(), unread).string().starts_with(name)) continue;
    FileDescriptor file(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
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
      return static_cast<bool>(stopped->hold_all());
    };
    if (Status called = make_remote_calls(*stopped, memory_, calls, at_wait, planned); !called) return called;
  }
  const Mapped mapped = find_mapped(areas);
  const bool is_begun = has_data || begin_data(begin);
  if (!is_begun || !mapped.data) data_file_ = FileDescriptor();
  if (is_data_mapped() && mapped.areas) return {};
  unmap_unwritten(plan, has_data);
  return Error{"the process may not map the memory that the agent needs"};
}

// What the process has mapped, if it could not map all.
void AgentProcess::unmap_unwritten(const MappingPlan& plan, bool keeps_data) {
  const auto mappings = mappings_of(context_.pid);
  auto stopped = StoppedProcess::stop(context_.pid);
  if (!mappings || !stopped) return;
  const UnwrittenMappings its = unwritten_of(memory_, *mappings, context_.data, plan);
  std::vector<AddressRange> ranges = its.code;
  if (!keeps_data) {
    ranges.insert(ranges.end(), its.around.begin(), its.around.end());
    const MemoryMapping* data = mapping_at(*mappings, context_.data);
    const std::string name = fmt::format("{}{} ", kDataName, tracer_pid());
    if (data != nullptr && data->range.begin == context_.data && (data->path + " ").starts_with(name))
      ranges.push_back(data->range);
    data_file_ = FileDescriptor();
  }
  if (!ranges.empty()) unmap_ranges(*stopped, memory_, ranges);
}

// False: the file is not the one that is mapped there. Firings would go where dvm does not read.
bool AgentProcess::begin_data(const BeginData& begin) const {
  const inside::DataHeader header{.clock = {begin.clock, {}}, .mark = read_clock(CLOCK_MONOTONIC)};
  uint64_t found = 0;
  if (!memory_.write_object(context_.data, header) || !memory_.write_object(globals_at(), begin.globals)) return false;
  return read_value(data_file_.get(), offsetof(inside::DataHeader, mark), found) && found == header.mark;
}

// Code, programs, sites and stubs; nothing leads there yet.
void AgentProcess::write_area(Area& area) {
  const uint64_t code_at = area.add(inside_code());
  inside::CodeEntries entries;
  std::memcpy(&entries, inside_code().data(), sizeof entries);
  inside::Context context = context_;
  context.lasting = area.add(lasting_.bytes());
  if (is_restartable_) context.restart = area.add_restart(code_at, entries);
  const uint64_t context_at = area.add(std::as_bytes(std::span(&context, 1)));
  area.begin_frames(code_at, entries);
  std::map<std::vector<std::byte>, uint64_t> programs;
  const auto place = [&](const std::vector<std::byte>& program) {
    const auto [known, is_new] = programs.try_emplace(program);
    if (is_new) known->second = program.empty() ? 0 : area.add(program);
    return known->second;
  };
  for (AgentSite* site : area.sites) {
    std::vector<std::byte> bytes(sizeof(inside::Site) + site->firers.size() * sizeof(inside::Firer));
    const inside::Site header{context,
                              site->window_address + site->probed,
                              site->window_address,
                              static_cast<uint32_t>(site->firers.size()),
                              site->watch,
                              site->counted_firers(),
                              site->taking,
                              site->number};
    std::memcpy(bytes.data(), &header, sizeof header);
    for (size_t i = 0; i < site->firers.size(); i++) {
      AgentFirer& its = site->firers[i];
      const inside::Firer firer{.programs = {its.cookie, place(its.program), its.larger_cookie, place(its.larger_program)},
                                .steps = area.add_steps(its.steps),
                                .step_count = static_cast<uint32_t>(its.steps.size()),
                                .locals = its.locals,
                                .has_variables = its.has_variables,
                                .function = its.function,
                                .tail = its.tail};
      std::memcpy(bytes.data() + sizeof header + i * sizeof firer, &firer, sizeof firer);
    }
    const uint64_t at = area.add(bytes);
    area.add({});
    const std::vector<inside::MemoryRange> texts = ranges_of_texts(lasting_.ranges, header.address);
    const SitePlace here{header.address, context, context_at, code_at, entries, site->keeps_flags, lasting_.stack, texts};
    Stub stub =
        make_stub({CodeBytes(site->window).first(site->copied), site->window_address, site->probed, area.here(), at,
                   code_at + entries.enter, site->is_conditional, firers_of(*site), here, site->watch == inside::Watch::unwind});
    if (site->refusal = stub.refusal; !site->refusal.empty()) continue;
    const uint64_t stub_at = area.here();
    for (MovedInstruction& one : stub.moved) one.to += static_cast<uint32_t>(stub_at - area.range.begin);
    area.patches.push_back(make_patch(*site, stub_at));
    area.add_frame(area.add(std::as_bytes(std::span(stub.bytes))), stub);
    area.stubs.push_back(std::move(stub));
    area.patched.push_back(site);
    area.placed.push_back({at, stub_at});
  }
  const std::vector<inside::Patch> table = table_of(area.patches);
  area.table = area.add(std::as_bytes(std::span(table)));
  area.table_size = table.size();
  area.finish_frames();
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

Status AgentProcess::enable(std::vector<AgentSite>& sites, const BeginData& begin) {
  if (is_abandoned_) return Error{"the agent was removed from it"};
  return unstopped(context_.pid, [&] { return enable_all(sites, begin); });
}

Status AgentProcess::enable_all(std::vector<AgentSite>& sites, const BeginData& begin) {
  if (Status looked = refuse_unfit(sites, context_.pid); !looked) return looked;
  SiteGroups groups(sites);
  groups.refuse_together();
  auto placed = place(sites, begin);
  if (!placed) return placed.error();
  std::vector<Area>& areas = *placed;
  for (const AgentSite& site : sites) note_unwatched(site);
  if (areas.empty()) return {};
  note_own(areas);
  for (AgentSite& site : sites) site.place_globals(globals_at());
  for (Area& area : areas) {
    write_area(area);
    inside::CodeHeader header{.armed = context_.armed,
                              .pid = context_.pid,
                              .tracer = tracer_pid(),
                              .patches = area.table_size,
                              .tracer_began = start_time(tracer_pid()),
                              .table = area.table,
                              .table_size = area.table_size,
                              .bytes = area.range.end - area.range.begin,
                              .data = context_.data,
                              .data_bytes = data_bytes(),
                              .lanes = context_.lanes,
                              .tracer_space = pid_space("self"),
                              .frames = area.frame_table,
                              .semaphores = semaphores_at()};
    const bool is_written = area.here() <= area.range.end && memory_.write(area.begin(), area.content) &&
                            memory_.write_object(area.range.begin, header) && memory_.write_object(context_.own, own_);
    if (!is_written) return Error{"the mapped memory cannot be written"};
  }
  const auto has_semaphore = [](const AgentSite& site) { return !site.semaphores.empty(); };
  const bool are_first = std::any_of(sites.begin(), sites.end(), has_semaphore) && !std::exchange(has_semaphores_, true);
  if (!guard_ || are_first) {
    auto guard = AgentGuard::start(context_.pid, context_.follows != 0 || has_semaphores_);
    if (!guard) return guard.error();
    guard_ = *std::move(guard);
  }
  const std::set<uint64_t> reused = reuse_sites(sites);
  find_unseen(sites, reused);
  if (Status patched = patch(sites, areas, groups); !patched) return patched;
  note_plain(areas);
  note_takers(sites, reused);
  return {};
}

// The first code mapping has the list, also of those that come later.
void AgentProcess::note_own(const std::vector<Area>& areas) {
  static_assert(sizeof(inside::CodeHeader) <= inside::kOwnAt &&
                inside::kOwnAt + sizeof(inside::OwnMemory) + sizeof(inside::WatchedMemory) <= kPageBytes);
  const auto add = [&](uint64_t begin, uint64_t end) {
    if (own_.count < inside::kMostOwn) own_.ranges[own_.count++] = {begin, end};
  };
  if (own_.count == 0) {
    context_.own = areas.front().range.begin + inside::kOwnAt;
    add(context_.armed, context_.data + data_bytes());
    for (const KeptUnwinder& one : kept_unwinders(context_.pid, memory_)) add(one.code.begin, one.code.end);
  }
  for (const Area& area : areas) add(area.range.begin, area.range.end);
}

std::vector<AddressRange> AgentProcess::own_ranges() const {
  std::vector<AddressRange> own;
  for (uint64_t i = 0; i < own_.count; i++) own.push_back({own_.ranges[i].begin, own_.ranges[i].end});
  return own;
}

void AgentProcess::place_variables(inside::VariablesIn where) {
  if (!is_on_) return;  // the process may have unmapped the lanes
  memory_.write_object(context_.data + offsetof(inside::DataHeader, variables), where);
  memory_.write_object(context_.armed + offsetof(inside::ArmedPage, variables), where);
}

}  // namespace dvm::runtime
