// Tested by tests/unit/instrument/target_signals_test.cpp.

#include "runtime/process/target_signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace dvm::runtime {
namespace {

int open_pidfd(int32_t pid) noexcept { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

bool send_by(int fd, int number) noexcept { return fd >= 0 && syscall(SYS_pidfd_send_signal, fd, number, nullptr, 0) == 0; }

}  // namespace

TargetSignals::~TargetSignals() {
  for (const Known& process : known_) close(process.fd);
}

void TargetSignals::learn(int32_t pid) {
  if (std::any_of(known_.begin(), known_.end(), [pid](const Known& process) { return process.pid == pid; })) return;
  if (const int fd = open_pidfd(pid); fd >= 0) known_.push_back({pid, fd});
}

bool TargetSignals::send(int32_t pid, int64_t number) const noexcept {
  if (pid <= 0 || pid == getpid() || number < 1 || number > SIGRTMAX) return false;
  for (const Known& process : known_)
    if (process.pid == pid) return send_by(process.fd, static_cast<int>(number));
  const int fd = open_pidfd(pid);  // a process that only profile-N saw
  const bool is_sent = send_by(fd, static_cast<int>(number));
  if (fd >= 0) close(fd);
  return is_sent;
}

}  // namespace dvm::runtime
