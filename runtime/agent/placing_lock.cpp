// Tested by tests/unit/instrument/other_jumps_test.cpp.

#include "runtime/agent/placing_lock.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "runtime/agent/detach.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

// Behind a zero, so they are in no folder. Those of processes continue behind the second one.
constexpr std::string_view kOfAll = "dvm-places-in-all", kOfProcess = "dvm-places-in-process-";
constexpr uint64_t kWithin = 5'000'000'000;  // ns
constexpr useconds_t kPause = 1000;

struct SocketName {
  explicit SocketName(std::string_view name) : size(static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size;
};

FileDescriptor make_socket() { return FileDescriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

// Nothing: another has it.
FileDescriptor take(std::string_view name) {
  const SocketName wanted(name);
  FileDescriptor made = make_socket();
  return made && bind(made.get(), wanted.get(), wanted.size) == 0 ? std::move(made) : FileDescriptor();
}

bool is_taken(std::string_view name) {
  const SocketName wanted(name);
  const FileDescriptor made = make_socket();
  return made && connect(made.get(), wanted.get(), wanted.size) == 0;
}

// The kernel writes @ for the zero.
bool is_any_process_taken() {
  const std::string sought = fmt::format(" @{}", kOfProcess);
  std::ifstream sockets("/proc/self/net/unix");
  for (std::string line; std::getline(sockets, line);)
    if (line.find(sought) != std::string::npos) return true;
  return false;
}

// The same for dvms in different PID namespaces: by the innermost one of the process, and its number there.
std::string name_of(pid_t pid) { return fmt::format("{}{}-{}", kOfProcess, pid_space(std::to_string(pid)), own_id(pid, pid)); }

// Whoever wants some takes them before it looks whether another has all, and whoever wants all does the opposite: one sees the
// other. The former then gives way.
bool take_some(const std::set<pid_t>& pids, std::vector<FileDescriptor>& sockets) {
  sockets.clear();
  for (const pid_t pid : pids) {
    FileDescriptor made = take(name_of(pid));
    if (!made) return false;
    sockets.push_back(std::move(made));
  }
  return !is_taken(kOfAll);
}

bool take_all(std::vector<FileDescriptor>& sockets) {
  if (sockets.empty())
    if (FileDescriptor made = take(kOfAll)) sockets.push_back(std::move(made));
  return !sockets.empty() && !is_any_process_taken();
}

}  // namespace

PlacingLock::PlacingLock(const std::set<pid_t>& pids) {
  const uint64_t deadline = read_clock(CLOCK_MONOTONIC) + kWithin;
  for (;;) {
    is_held_ = pids.empty() ? take_all(sockets_) : take_some(pids, sockets_);
    if (is_held_ || read_clock(CLOCK_MONOTONIC) > deadline) break;
    if (!pids.empty()) sockets_.clear();
    usleep(kPause);
  }
}

}  // namespace dvm::runtime
