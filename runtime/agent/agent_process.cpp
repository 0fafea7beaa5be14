// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/agent_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "common/clock.h"
#include "common/file_bytes.h"
#include "runtime/agent/code_area.h"
#include "runtime/agent/code_pages.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/inside/steady.h"
#include "runtime/agent/inside_code.h"
#include "runtime/agent/mapping_plan.h"
#include "runtime/agent/other_jumps.h"
#include "runtime/agent/patches.h"
#include "runtime/agent/site_room.h"
#include "runtime/agent/stub.h"
#include "runtime/agent/target_check.h"
#include "runtime/agent/text_code.h"
#include "runtime/agent/unfit_sites.h"
#include "runtime/agent/unstopped.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = CodeArea::kPageBytes;

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
    const bool finds_frames = site->watch == inside::Watch::unwind;
    Stub stub = make_stub({CodeBytes(site->window).first(site->copied), site->window_address, site->probed, area.here(), at,
                           code_at + entries.enter, site->is_conditional, firers_of(*site), here, finds_frames,
                           !finds_frames || !site->firers.empty()});
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

Status AgentProcess::enable(std::vector<AgentSite>& sites, const BeginData& begin) {
  if (is_abandoned_) return Error{"the agent was removed from it"};
  return unstopped(context_.pid, [&] {
    constexpr int kUnmappings = 20;
    const bool has_data = is_data_mapped();
    Status enabled = enable_all(sites, begin);
    if (!has_data && !is_on_ && is_data_mapped()) unmap_all();
    if (!is_data_mapped() && has_mapped_) unmappings_ = kUnmappings;
    if (!is_data_mapped()) context_.armed = context_.data = 0;
    return enabled;
  });
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
