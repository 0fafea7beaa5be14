// Tested by tests/unit/instrument/target_memory_test.cpp.

#include "runtime/process/cpu_topology.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace dvm::runtime {
namespace {

constexpr int kMostNodes = 1024;

int32_t read_number(const char* path) noexcept {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char text[32];
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return -1;
  text[size] = '\0';
  return static_cast<int32_t>(std::strtol(text, nullptr, 10));
}

int32_t chip(int32_t cpu) noexcept {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
  return read_number(path);
}

// A CPU's folder has a link "nodeN"; without NUMA there is none, and all memory is one node.
int32_t node(int32_t cpu) noexcept {
  char path[96];
  for (int n = 0; n < kMostNodes; n++) {
    std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d", n);
    if (access(path, F_OK) != 0) return n == 0 ? 0 : -1;
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%d", cpu, n);
    if (access(path, F_OK) == 0) return n;
  }
  return -1;
}

// Finds "cpu MHz : 2596.000" behind "processor : CPU" in /proc/cpuinfo.
class ClockReader {
 public:
  explicit ClockReader(int32_t cpu) : cpu_(cpu) {}

  // False: it is found.
  bool take(char c) noexcept {
    if (c != '\n') {
      if (size_ + 1 < sizeof line_) line_[size_++] = c;
      return true;
    }
    line_[size_] = '\0', size_ = 0;
    const char* colon = std::strchr(line_, ':');
    if (colon == nullptr) return true;
    const long value = std::strtol(colon + 1, nullptr, 10);
    if (std::strncmp(line_, "processor", 9) == 0) is_mine_ = value == cpu_;
    if (!is_mine_ || std::strncmp(line_, "cpu MHz", 7) != 0) return true;
    found_ = static_cast<int32_t>(value);
    return false;
  }
  int32_t found() const noexcept { return found_; }

 private:
  int32_t cpu_, found_ = -1;
  bool is_mine_ = false;
  char line_[128] = {};
  size_t size_ = 0;
};

int32_t clock(int32_t cpu) noexcept {
  const int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ClockReader reader(cpu);
  char part[1024];
  bool goes_on = true;
  for (ssize_t size = 0; goes_on && (size = ::read(fd, part, sizeof part)) > 0;)
    for (ssize_t i = 0; goes_on && i < size; i++) goes_on = reader.take(part[i]);
  close(fd);
  return reader.found();
}

}  // namespace

const CpuTopology::Position& CpuTopology::of(int32_t cpu) noexcept {
  if (cpu < 0 || static_cast<size_t>(cpu) >= places_.size()) return unknown_;
  Position& place = places_[static_cast<size_t>(cpu)];
  if (!place.is_known) place = {true, chip(cpu), node(cpu), clock(cpu)};
  return place;
}

// The kernel's list: "0-3,5". Without /sys, as in a bare chroot, those that dvm may run on.
std::vector<int> online_cpus() {
  std::vector<int> cpus;
  std::ifstream file("/sys/devices/system/cpu/online");
  for (int first; file >> first;) {
    int last = first;
    if (file.peek() == '-') file.ignore(1) >> last;
    for (int cpu = first; cpu <= last; cpu++) cpus.push_back(cpu);
    file.ignore(1);
  }
  cpu_set_t own;
  if (cpus.empty() && sched_getaffinity(0, sizeof own, &own) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
      if (CPU_ISSET(cpu, &own)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace dvm::runtime
