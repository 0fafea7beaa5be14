// Tested by tests/unit/agent/agent_process_test.cpp and tests/runtime/agent.

#include "runtime/agent/agent_process.h"

#include <fcntl.h>
#include <fmt/format.h>
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

#include "runtime/agent/detach.h"
#include "runtime/agent/inside_code.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/stub.h"
#include "runtime/agent/suspects.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kClose = 3, kMmap = 9, kMadvise = 28, kFtruncate = 77, kPpoll = 271, kMemfdCreate = 319;
constexpr uint64_t kWipeOnFork = 18, kCloseOnExec = 1;
constexpr uint64_t kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
constexpr std::string_view kFileName = "/memfd:dvm-agent";
constexpr int kAttempts = 4;  // to find no thread in a window
constexpr useconds_t kPause = 2000;
constexpr size_t kMostAreas = 16;
constexpr uint64_t kSignalBytes = 8;

uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

RemoteCall map_at(const AddressRange& range, int protection) {
  return {kMmap, {range.begin, range.end - range.begin, static_cast<uint64_t>(protection), kAnonymous, UINT64_MAX, 0}};
}

// Bytes of the code mapping that a site needs, but for its programs.
uint64_t bytes_of(const AgentSite& site) {
  return align(kMostStubBytes, 16) + sizeof(inside::Site) + site.firers.size() * sizeof(inside::Firer) + sizeof(inside::Patch);
}

bool crosses_page(const AgentSite& site) {
  return site.window_address / kPageBytes != (site.window_address + kJumpBytes - 1) / kPageBytes;
}

}  // namespace

// A code mapping and the sites that it serves. It is filled from the beginning on:
//
//   CodeHeader (a page) | remote calls | agent_enter ... | programs | sites and stubs | patches
struct AgentProcess::Area {
  std::vector<AgentSite*> sites{};
  AddressRange near{}, range{};
  uint64_t wanted = 0;
  std::vector<std::byte> content;  // behind the remote calls
  uint64_t table = 0;
  std::vector<inside::Patch> patches;
  std::vector<Stub> stubs;          // of the patches
  std::vector<AgentSite*> patched;  // their sites

  uint64_t begin() const { return range.begin + kPageBytes + kRemoteRoom; }
  uint64_t here() const { return begin() + content.size(); }
  uint64_t add(std::span<const std::byte> bytes) {
    content.resize(align(content.size(), 16));
    const uint64_t at = here();
    content.insert(content.end(), bytes.begin(), bytes.end());
    return at;
  }
  // With its code.
  uint64_t add_clause(const AgentClause& one) {
    inside::SiteClause clause = one.clause;
    const auto add_code = [&](const std::vector<unsigned char>& code) {
      return code.empty() ? 0 : add(std::as_bytes(std::span(code)));
    };
    clause.predicate = add_code(one.predicate), clause.value = add_code(one.value);
    for (size_t i = 0; i < one.keys.size() && i < inside::kMostKeys; i++) clause.keys[i] = add_code(one.keys[i]);
    return add(std::as_bytes(std::span(&clause, 1)));
  }
};

size_t AgentClause::bytes() const {
  size_t all = sizeof clause + 16 + align(predicate.size(), 16) + align(value.size(), 16);
  for (const auto& key : keys) all += align(key.size(), 16);
  return all;
}

Result<AgentProcess> AgentProcess::open(pid_t pid, uint32_t lanes, uint32_t ring_bytes) {
  if (Status fit = check_target(pid); !fit) return fit.error();
  auto memory = AgentMemory::open(pid);
  if (!memory) return memory.error();
  if (auto cleaned = detach_agents(pid, *memory, WhichAgents::of_dead_tracers); !cleaned) return cleaned.error();
  inside::Context context{.pid = pid, .lanes = lanes, .ring_bytes = ring_bytes};
  return AgentProcess(*std::move(memory), context);
}

uint64_t AgentProcess::data_bytes() const {
  const uint64_t bytes = sizeof(inside::DataHeader) +
                         context_.lanes * (sizeof(inside::Lane) + uint64_t{context_.ring_bytes} + 2 * inside::kArenaBytes);
  return align(bytes, kPageBytes);
}

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
    area.wanted += bytes_of(*site);
    for (const AgentFirer& firer : site->firers)
      area.wanted += align(firer.program.size(), 16) + (firer.clause ? firer.clause->bytes() : 0);
  }
  std::vector<MemoryMapping> taken = mappings;
  for (Area& area : areas) {
    const uint64_t bytes = align(2 * kPageBytes + kRemoteRoom + align(inside_code().size(), 16) + area.wanted, kPageBytes);
    if (const auto gap = find_gap(taken, area.near, bytes)) area.range = {*gap, *gap + bytes};
    taken.push_back({area.range, true, ""});
    std::sort(taken.begin(), taken.end(),
              [](const MemoryMapping& a, const MemoryMapping& b) { return a.range.begin < b.range.begin; });
  }
  return areas;
}

bool AgentProcess::are_mapped(const std::vector<Area>& areas) const {
  const auto mappings = mappings_of(context_.pid);
  const auto has = [&](uint64_t address, bool is_executable) {
    return mappings && std::any_of(mappings->begin(), mappings->end(), [&](const MemoryMapping& one) {
             return one.range.begin == address && one.is_executable == is_executable &&
                    (one.path.empty() || one.path.starts_with(kFileName));
           });
  };
  const bool has_areas = std::all_of(areas.begin(), areas.end(), [&](const Area& one) { return has(one.range.begin, true); });
  return has_areas && has(context_.armed, false) && has(context_.data, false);
}

// The armed page and the lanes: as near as they may lie, but apart from the areas.
Status AgentProcess::place_data(const std::vector<MemoryMapping>& mappings, std::vector<Area>& areas) {
  if (is_data_mapped()) return {};
  std::vector<MemoryMapping> taken = mappings;
  for (const Area& area : areas) taken.push_back({area.range, true, ""});
  std::sort(taken.begin(), taken.end(),
            [](const MemoryMapping& a, const MemoryMapping& b) { return a.range.begin < b.range.begin; });
  const uint64_t room = data_bytes() + 2 * kPageBytes;
  const auto gap = find_gap(taken, areas.back().near, room);
  if (!gap) return Error{"there is no room for its firings in its address space"};
  context_.armed = *gap;
  context_.data = *gap + 2 * kPageBytes;
  return {};
}

std::vector<RemoteCall> AgentProcess::calls_for(const std::vector<Area>& areas) const {
  std::vector<RemoteCall> calls;
  const AddressRange armed{context_.armed, context_.armed + kPageBytes};
  const uint64_t bytes = data_bytes();
  if (!is_data_mapped()) calls.push_back({kMemfdCreate, {kRemoteText, kCloseOnExec, 0, 0, 0, 0}, true});
  for (const Area& area : areas) calls.push_back(map_at(area.range, PROT_READ | PROT_EXEC));
  if (is_data_mapped()) return calls;
  calls.push_back({kFtruncate, {kFirstResult, bytes, 0, 0, 0, 0}});
  calls.push_back({kMmap, {context_.data, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, kFirstResult, 0}});
  calls.push_back(map_at(armed, PROT_READ | PROT_WRITE));
  calls.push_back({kMadvise, {armed.begin, kPageBytes, kWipeOnFork, 0, 0, 0}});
  calls.push_back({kPpoll, {0, 0, kRemoteTime, 0, kSignalBytes, 0}});  // while dvm opens the file
  calls.push_back({kClose, {kFirstResult, 0, 0, 0, 0, 0}});
  return calls;
}

// By the link of its descriptor; one that has the whole size.
void AgentProcess::open_data_file() {
  const std::string name = fmt::format("/memfd:{}{}", kRemoteTextBegins, getpid());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", context_.pid), error)) {
    std::error_code unread;
    if (!std::filesystem::read_symlink(entry.path(), unread).string().starts_with(name)) continue;
    OpenFile file(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
    struct stat status {};
    if (file && fstat(file.get(), &status) == 0 && static_cast<uint64_t>(status.st_size) == data_bytes())
      data_file_ = std::move(file);
  }
}

Status AgentProcess::map(std::vector<Area>& areas) {
  {
    const std::vector<RemoteCall> calls = calls_for(areas);
    auto stopped = StoppedProcess::stop(context_.pid);
    if (!stopped) return stopped.error();
    if (context_.thread_offset == 0) context_.thread_offset = find_thread_offset(*stopped, memory_);
    const auto is_opened = [&] {
      if (!is_data_mapped()) open_data_file();
      return is_data_mapped();
    };
    if (Status called = make_remote_calls(*stopped, memory_, calls, is_opened); !called) return called;
  }
  if (is_data_mapped() && are_mapped(areas)) return {};
  data_file_ = OpenFile();
  return Error{"the process may not map the memory that the agent needs"};
}


}  // namespace dvm::runtime
