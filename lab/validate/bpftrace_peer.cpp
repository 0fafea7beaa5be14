// Covered by tests/runtime/scenarios/test_validate.py.

#include "lab/validate/bpftrace_peer.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "runtime/process/process.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr int kLongestStartMs = 20'000;
constexpr timespec kUntilAttached = {0, 500'000'000};  // it says that it is attaching, not that it has

// Where nothing is mounted, for it alone: it looks tracepoints up there.
void show_tracepoints() {
  if (access("/sys/kernel/tracing/events", F_OK) == 0 || unshare(CLONE_NEWNS) != 0) return;
  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, nullptr);
}

void become(const std::string& path, const std::string& target, const std::string& program, int out) {
  dup2(out, STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO), dup2(nowhere, STDERR_FILENO);  // it complains about limits and files that do not matter here
  show_tracepoints();
  execl(path.c_str(), "bpftrace", "-p", target.c_str(), "-e", program.c_str(), nullptr);
}

}  // namespace

Result<std::unique_ptr<PipedChild>> start_bpftrace(int32_t pid, const std::string& program) {
  const auto path = find_program("bpftrace");
  if (!path) return Error{"bpftrace is not installed"};
  auto child = PipedChild::start([&](int, int out) { become(*path, std::to_string(pid), program, out); }, SIGINT);
  if (!child) return child.error();
  char text[256];
  if (!(*child)->wait(kLongestStartMs) || (*child)->hear(text, sizeof text) == 0) return Error{"bpftrace did not start"};
  nanosleep(&kUntilAttached, nullptr);
  return child;
}

}  // namespace dvm::lab
