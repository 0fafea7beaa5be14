// Covered by tests/runtime/scenarios/test_validate.py.

#include "runtime/cost/validate/bpftrace_peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/process/process.h"

namespace dvm::runtime {
namespace {

constexpr int kLongestStartMs = 20'000;
constexpr timespec kUntilAttached = {0, 500'000'000};  // it says that it is attaching, not that it has

[[noreturn]] void become(const std::string& path, const std::string& target, const std::string& program, int out) {
  dup2(out, STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO), dup2(nowhere, STDERR_FILENO);
  execl(path.c_str(), "bpftrace", "-p", target.c_str(), "-e", program.c_str(), nullptr);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<BpftracePeer>> BpftracePeer::start(int32_t pid, const std::string& program) {
  const auto path = find_program("bpftrace");
  if (!path) return Error{"bpftrace is not installed"};
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return Error{"failed to make a pipe"};
  std::unique_ptr<BpftracePeer> peer(new BpftracePeer);
  peer->from_ = out[0];
  peer->pid_ = fork();
  if (peer->pid_ == 0) become(*path, std::to_string(pid), program, out[1]);
  close(out[1]);
  if (peer->pid_ < 0) return Error{"failed to fork"};
  pollfd said{out[0], POLLIN, 0};
  char text[256];
  if (poll(&said, 1, kLongestStartMs) != 1 || read(out[0], text, sizeof text) <= 0) return Error{"bpftrace did not start"};
  nanosleep(&kUntilAttached, nullptr);
  return peer;
}

BpftracePeer::~BpftracePeer() {
  if (pid_ > 0) {
    kill(pid_, SIGINT);
    waitpid(pid_, nullptr, 0);
  }
  close(from_);
}

}  // namespace dvm::runtime
