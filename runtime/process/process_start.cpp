// Covered by tests/runtime/variables (tst.psinfo.d).
#include "runtime/process/process_start.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/clock.h"

namespace dvm::runtime {

namespace {

constexpr int64_t kUnknown = -1;
constexpr uint64_t kSecond = 1'000'000'000;

// Fields of /proc/PID/stat, counted from the state, which follows the name.
constexpr int kTerminal = 4, kStarted = 19, kStack = 25;

// -1: there is no such process. The name may contain blanks and parentheses.
int64_t stat_field(int32_t pid, int field) noexcept {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (size <= 0) return kUnknown;
  text[size] = '\0';
  const char* at = std::strrchr(text, ')');
  for (int skipped = -1; at != nullptr && skipped < field; skipped++) at = std::strchr(at + 1, ' ');
  return at == nullptr ? kUnknown : static_cast<int64_t>(std::strtoull(at, nullptr, 10));
}

int64_t terminal(int32_t pid) noexcept {
  const int64_t device = stat_field(pid, kTerminal);
  return device == 0 ? kUnknown : device;
}

// stat counts ticks since the machine started. -1: unknown.
int64_t started(int32_t pid, bool wants_seconds) noexcept {
  const int64_t ticks = stat_field(pid, kStarted);
  if (ticks < 0) return kUnknown;
  const uint64_t boot = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME);
  const uint64_t at = boot + static_cast<uint64_t>(ticks) * (kSecond / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
  return static_cast<int64_t>(wants_seconds ? at / kSecond : at % kSecond);
}

// A program finds its number of arguments at the start of its stack, then their addresses and a null, then its environment.
int64_t first_stack(int32_t pid, uint64_t number) noexcept {
  const int64_t stack = stat_field(pid, kStack);
  int64_t count = kUnknown;
  iovec local{&count, sizeof count}, remote{reinterpret_cast<void*>(stack), sizeof count};
  if (stack <= 0 || process_vm_readv(pid, &local, 1, &remote, 1, 0) != sizeof count) return kUnknown;
  constexpr int64_t kWord = sizeof count;
  return number == 0 ? count : number == 1 ? stack + kWord : stack + (count + 2) * kWord;
}

}  // namespace

int64_t process_start(int32_t pid, uint64_t number) noexcept {
  if (number == 0) return terminal(pid);
  if (number <= 2) return started(pid, number == 1);
  return number <= 5 ? first_stack(pid, number - 3) : kUnknown;
}

}  // namespace dvm::runtime
