// Tested by tests/runtime/scenarios/test_agent.py and tests/unit/instrument/stopped_process_test.cpp.

#include "runtime/agent/fork_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace dvm::runtime {
namespace {

void close_between(int first, int last) {
  if (first <= last) syscall(SYS_close_range, first, last, 0);
}

// All but two descriptors are closed: a pipe that dvm's output went to must see its end. The two stay where they are, since no
// other number may be free below the limit.
void close_others(int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  close_between(0, low - 1);
  close_between(low + 1, high - 1);
  close_between(high + 1, INT_MAX);
  for (int i = 0; i <= STDERR_FILENO; i++)
    if (open("/dev/null", O_RDWR) < 0) return;
}

// The guard inherits session and name from the process between, whose end dvm waits for.
void leave_session() {
  setsid();
  prctl(PR_SET_NAME, "dvm-guard");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2}) {
    struct sigaction action {};
    action.sa_handler = signal == SIGCHLD ? SIG_DFL : SIG_IGN;
    sigaction(signal, &action, nullptr);
  }
  if (chdir("/") != 0) return;
}

// One that a signal has ended counts as interrupted.
int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 0;  // the kernel has forgotten it, where SIGCHLD is ignored
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

}  // namespace

Error no_guard(pid_t pid, int problem) {
  return Error{fmt::format("cannot start a guard for process {}: {}", pid, std::strerror(problem))};
}

// Forked twice, so that dvm has no child that it does not know.
Result<FileDescriptor> fork_guard(pid_t pid, int kept, const std::function<void(int)>& work) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return no_guard(pid, errno);
  FileDescriptor dvms(ends[1]);
  const pid_t between = fork();
  if (between == 0) {
    close(ends[1]);
    leave_session();
    const pid_t made = fork();
    if (made == 0) {
      close_others(ends[0], kept);
      work(ends[0]);
      _exit(0);
    }
    _exit(made < 0 ? errno : 0);
  }
  const int problem = between < 0 ? errno : exit_code_of(between);
  close(ends[0]);
  if (problem != 0) return no_guard(pid, problem);
  return dvms;
}

// The descriptor stays bound to the address space, as that of AgentMemory does.
Result<FileDescriptor> write_at_end(pid_t pid, uint64_t address, uint32_t word) {
  const FileDescriptor memory(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) return no_guard(pid, errno);
  return fork_guard(pid, memory.get(), [&](int dvms_end) {
    char byte = 0;
    while (read(dvms_end, &byte, 1) < 0 && errno == EINTR) continue;
    if (pwrite(memory.get(), &word, sizeof word, static_cast<off_t>(address)) < 0) _exit(errno);
  });
}

}  // namespace dvm::runtime
