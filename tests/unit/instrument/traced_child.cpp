// Fork, two pipes and a loop.
#include "tests/unit/instrument/traced_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace dvm::runtime::test {
namespace {

[[noreturn]] void serve(int from, int to, const std::vector<TracedChild::Job>& jobs) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  uint8_t index;
  while (read(from, &index, 1) == 1) {
    if (index < jobs.size()) jobs[index]();
    if (write(to, &index, 1) != 1) break;
  }
  _exit(0);
}

}  // namespace

TracedChild::TracedChild(std::vector<Job> jobs) {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0) std::abort();
  pid_ = fork();
  if (pid_ == 0) {
    close(down[1]);
    close(up[0]);
    serve(down[0], up[1], jobs);
  }
  close(down[0]);
  close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
}

TracedChild::~TracedChild() {
  close(to_child_);
  close(from_child_);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool TracedChild::start(uint8_t index) { return write(to_child_, &index, 1) == 1; }

bool TracedChild::finish() {
  uint8_t index;
  return read(from_child_, &index, 1) == 1;
}

bool TracedChild::call(uint8_t index) { return start(index) && finish(); }

uint64_t file_offset(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &offset) != 3) continue;
    if (begin <= wanted && wanted < end) return wanted - begin + offset;
  }
  return 0;
}

std::string memory_of(pid_t pid, const void* address, size_t bytes) {
  std::string result(bytes, '\0');
  const std::string path = "/proc/" + std::to_string(pid) + "/mem";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t got = pread(file, result.data(), bytes, static_cast<off_t>(reinterpret_cast<uintptr_t>(address)));
  close(file);
  result.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return result;
}

}  // namespace dvm::runtime::test
