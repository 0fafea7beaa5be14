// Covered by tests/unit/vm/native_test.cpp.

#include "vm/engine/native/perf_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

#include "dvm/vm/engine.h"

namespace dvm::vm {

namespace {

std::atomic<bool> g_writes_perf_map = false;

// Everybody may write into /tmp: a link or a file of another user is not opened. -1: none.
int open_perf_map() {
  const std::string path = fmt::format("/tmp/perf-{}.map", ::getpid());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  struct stat found = {};
  if (file < 0 || (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == ::geteuid())) return file;
  ::close(file);
  return -1;
}

}  // namespace

void write_perf_map(bool is_wanted) { g_writes_perf_map = is_wanted; }

namespace native {

void name_code(const void* begin, size_t size, std::string_view name) {
  if (!g_writes_perf_map) return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const int file = open_perf_map();
  if (file < 0) return;
  const std::string line = fmt::format("{:x} {:x} {}\n", reinterpret_cast<uintptr_t>(begin), size, name);
  [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
  ::close(file);
}

}  // namespace native

}  // namespace dvm::vm
