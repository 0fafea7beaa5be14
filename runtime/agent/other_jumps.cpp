#include "runtime/agent/other_jumps.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "runtime/agent/detach.h"
#include "runtime/agent/unstopped.h"
#include "runtime/code/displaced.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

// The instructions that a jump has displaced may reach so far behind its beginning. None of them is executed where it was.
constexpr uint64_t kMostDisplaced = 5 + 15;

constexpr std::string_view kLocked = "another program has locked its file, which may hide an agent in another process";

// In a process that is not traced, a tracer must not spend seconds on what another one has left.
constexpr int kOfOthers = 3;

bool is_own(const FoundAgent& agent) { return agent.header.tracer == tracer_pid() && is_traced(agent); }

uint64_t bytes_of(const AgentMemory& memory, uint64_t jump) {
  constexpr uint8_t kShortJump = 0xeb;
  uint8_t opcode = 0;
  return memory.read_object(jump, opcode) && opcode == kShortJump ? kShortJumpBytes : kJumpBytes;
}

}  // namespace

Status clear_away(pid_t pid, const AgentMemory& memory, int clearings) {
  constexpr useconds_t kBetween = 50'000;
  for (int i = 1;; i++) {
    const auto cleared = unstopped(pid, [&] { return detach_agents(pid, memory, WhichAgents::of_dead_tracers); });
    if (cleared) return {};
    if (i == clearings || kill(pid, 0) != 0) return cleared.error();
    usleep(kBetween);
  }
}

OtherJumps::OtherJumps(pid_t pid)
    : bytes_(kMostDisplaced), clearings_(kClearings), reason_("an agent of another dvm has replaced its code") {
  if (const auto memory = AgentMemory::open(pid)) add(pid, *memory, find_agents(pid, *memory));
}

// Behind the jump itself a breakpoint does no harm, and there a process that is not traced need not fire.
OtherJumps OtherJumps::of_all() {
  OtherJumps all;
  all.bytes_ = kJumpBytes;
  all.clearings_ = kOfOthers;
  all.is_of_all_ = true;
  all.reason_ =
      "an agent has replaced its code in another process, and a uprobe that follows forks would affect that process, too";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    if (const auto memory = AgentMemory::open(pid)) all.add(pid, *memory, find_agents(pid, *memory));
  }
  return all;
}

// Uprobes lie in the file of the lowest layer of an overlay, which has another inode there, but the same size and times.
OtherJumps::FileId OtherJumps::file_of(const std::string& open_path) {
  struct stat status {};
  if (stat(open_path.c_str(), &status) != 0) return {};
  constexpr uint64_t kSecond = 1'000'000'000;
  return {status.st_size, static_cast<uint64_t>(status.st_mtim.tv_sec) * kSecond + static_cast<uint64_t>(status.st_mtim.tv_nsec)};
}

void OtherJumps::add(pid_t pid, const AgentMemory& memory, const std::vector<FoundAgent>& agents) {
  if (std::none_of(agents.begin(), agents.end(), [](const FoundAgent& one) { return one.header.patches != 0; })) return;
  (void)clear_away(pid, memory, clearings_);  // what stays is refused
  const auto objects = mapped_objects(pid);
  if (!objects) return;
  for (const FoundAgent& agent : agents) {
    const bool is_its = is_own(agent);
    for (const uint64_t jump : agent.header.patches == 0 ? std::vector<uint64_t>() : jumps_of(memory, agent))
      if (const MappedObject* object = object_at(*objects, jump))
        jumps_[file_of(object->open_path)].push_back(
            {jump - object->address + object->offset, is_its ? bytes_of(memory, jump) : bytes_, is_its});
  }
  for (auto& [file, jumps] : jumps_) std::sort(jumps.begin(), jumps.end());
}

std::string_view OtherJumps::refusal(const std::string& open_path, uint64_t offset) const {
  const std::string_view here = refusal_here(open_path, offset);
  if (!here.empty() || !is_of_all_) return here;
  const LockedBy holder = locked_.holder(open_path, offset);
  if (holder == LockedBy::agent) return reason_;
  return holder == LockedBy::another ? kLocked : std::string_view();
}

std::string_view OtherJumps::refusal_here(const std::string& open_path, uint64_t offset) const {
  if (jumps_.empty()) return {};
  const auto found = jumps_.find(file_of(open_path));
  if (found == jumps_.end()) return {};
  auto one = std::upper_bound(found->second.begin(), found->second.end(), Taken{offset, UINT64_MAX, true});
  while (one != found->second.begin() && offset - (--one)->offset < kMostDisplaced)
    if (offset - one->offset < one->bytes) return one->is_own ? "an agent has replaced its code" : reason_;
  return {};
}

}  // namespace dvm::runtime
