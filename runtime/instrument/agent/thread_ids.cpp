// Tested by tests/runtime/scenarios/test_containers.py.

#include "runtime/instrument/agent/thread_ids.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstddef>
#include <utility>

#include "common/clock.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostKnown = 8192;
constexpr uint64_t kListedFor = 1'000'000'000;  // ns; the kernel does not give an id to another thread that soon

}  // namespace

ThreadIds::ThreadIds(pid_t pid) : pid_(pid), differ_(has_own_ids(pid)) {
  if (differ_) search();
}

// The process may write any id. A thread that was not there may be by the next round: another one, with the same id.
pid_t ThreadIds::find(uint64_t own) {
  if (own == 0 || own > INT_MAX) return 0;
  const auto id = static_cast<pid_t>(own);
  for (const Ids* ids : {&known_, &older_})
    if (const auto found = ids->find(id); found != ids->end()) return found->second;
  if (!std::exchange(is_searched_, true)) search();
  const auto found = known_.find(id);
  return found != known_.end() ? found->second : -id;
}

// Reads only what is new.
void ThreadIds::search() {
  const uint64_t now = read_clock(CLOCK_MONOTONIC);
  if (now - listed_at_ > kListedFor) listed_.clear(), listed_at_ = now;
  if (known_.size() > kMostKnown) older_ = std::exchange(known_, {});
  Ids listed;
  for (const pid_t tid : threads_of(pid_)) {
    const auto before = listed_.find(tid);
    const pid_t own = before != listed_.end() ? before->second : own_id(pid_, tid);
    listed.emplace(tid, own);
    known_.insert_or_assign(own, tid);
  }
  listed_ = std::move(listed);
}

// A new thread may have got the id of one that has ended.
bool ThreadIds::lives(uint64_t own) {
  const auto is_there = [&] {
    const pid_t tid = of_dvm(own);
    return tid > 0 && access(fmt::format("/proc/{}/task/{}", pid_, tid).c_str(), F_OK) == 0;
  };
  if (is_there()) return true;
  if (!differ_ || std::exchange(is_searched_, true)) return false;
  search();
  return is_there();
}

}  // namespace dvm::runtime
