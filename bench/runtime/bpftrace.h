#pragma once
// The peer that the benchmarks of firings compare with.

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

#include "bench/runtime/workload.h"

namespace dvm::bench {

// bpftrace on the workload, until the end of the object.
class Bpftrace {
 public:
  Bpftrace(pid_t pid, const std::string& program) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) fail("no pipe");
    const std::string target = std::to_string(pid);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], 1);
      dup2(open("/dev/null", O_WRONLY), 2);  // it complains about limits and files that do not matter here
      show_tracepoints();
      execlp("bpftrace", "bpftrace", "-p", target.c_str(), "-e", program.c_str(), nullptr);
      _exit(127);
    }
    close(out[1]);
    from_ = out[0];
    wait_until_attached();
  }
  ~Bpftrace() {
    kill(pid_, SIGINT);
    waitpid(pid_, nullptr, 0);
    close(from_);
  }

 private:
  // Where nothing is mounted, for it alone.
  static void show_tracepoints() {
    if (access("/sys/kernel/tracing/events", F_OK) == 0 || unshare(CLONE_NEWNS) != 0) return;
    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, nullptr);
  }

  void wait_until_attached() {
    char text[256];
    const ssize_t got = read(from_, text, sizeof text);
    if (got <= 0) fail("bpftrace did not start");
    usleep(500'000);  // it says that it is attaching, not that it has
  }

  pid_t pid_ = -1;
  int from_ = -1;
};

}  // namespace dvm::bench
