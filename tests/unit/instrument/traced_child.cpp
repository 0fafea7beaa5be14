#include "tests/unit/instrument/traced_child.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace dvm::runtime::test {
namespace {

AnsweringChild<uint8_t, uint8_t> start_child(const std::vector<TracedChild::Job>& jobs) {
  auto child = AnsweringChild<uint8_t, uint8_t>::start([&jobs](uint8_t index) {
    if (index < jobs.size()) jobs[index]();
    return index;
  });
  if (!child) std::abort();
  return *std::move(child);
}

}  // namespace

TracedChild::TracedChild(const std::vector<Job>& jobs) : child_(start_child(jobs)) {}

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
