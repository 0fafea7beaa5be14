// Covered by tests/unit/common/piped_child_test.cpp.

#include "common/piped_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dvm {
namespace {

Error system_error(const char* what) { return {fmt::format("{}: {}", what, std::strerror(errno))}; }

// Its parent may have ended before it could ask to be told of that.
void end_with(pid_t parent, int end_signal) {
  prctl(PR_SET_PDEATHSIG, end_signal);
  if (getppid() != parent) _exit(0);
}

}  // namespace

Result<std::unique_ptr<PipedChild>> PipedChild::start(const Serve& serve, int end_signal) {
  int orders[2], answers[2];
  if (pipe2(orders, O_CLOEXEC) != 0) return system_error("failed to make a pipe");
  if (pipe2(answers, O_CLOEXEC) != 0) {
    const Error error = system_error("failed to make a pipe");
    close(orders[0]), close(orders[1]);
    return error;
  }
  std::unique_ptr<PipedChild> child(new PipedChild(end_signal));
  child->to_child_ = orders[1], child->from_child_ = answers[0];
  const pid_t parent = getpid();
  child->pid_ = fork();
  if (child->pid_ == 0) {
    end_with(parent, end_signal);
    close(orders[1]), close(answers[0]);
    serve(orders[0], answers[1]);
    _exit(0);
  }
  const int error = errno;
  close(orders[0]), close(answers[1]);
  errno = error;
  if (child->pid_ < 0) return system_error("failed to fork");
  return child;
}

namespace {

// False: it had not ended by then.
bool wait_for_end(pid_t pid, int ms) {
  for (int waited = 0; waited < ms; waited++) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace

// A program that does not heed the signal is killed.
PipedChild::~PipedChild() {
  constexpr int kPatienceMs = 5000;
  if (pid_ > 0 && kill(pid_, end_signal_) == 0 && !(end_signal_ != SIGKILL && wait_for_end(pid_, kPatienceMs))) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(to_child_), close(from_child_);
}

Status PipedChild::tell(const void* order, size_t size) {
  if (write(to_child_, order, size) != static_cast<ssize_t>(size)) return system_error("failed to write to a child");
  return {};
}

bool PipedChild::wait(int ms) const {
  pollfd answer{from_child_, POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&answer, 1, ms)) < 0 && errno == EINTR) {
  }
  return ready != 0;
}

size_t PipedChild::hear(void* answer, size_t most) {
  ssize_t got = 0;
  while ((got = read(from_child_, answer, most)) < 0 && errno == EINTR) {
  }
  return static_cast<size_t>(std::max<ssize_t>(got, 0));
}

}  // namespace dvm
