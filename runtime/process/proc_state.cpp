// Covered by tests/unit/instrument/proc_state_test.cpp and tests/runtime/variables (tst.curthread.d).
#include "runtime/process/proc_state.h"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "common/clock.h"

namespace dvm::runtime {

namespace {

constexpr int64_t kNone = vm::Host::kNoNumber;
constexpr uint64_t kPerProcess = 16;             // elements of each process
constexpr uint64_t kSystem = uint64_t{1} << 32;  // in place of a process id

// Reads the beginning of a file of /proc, without the rest of an unfinished line. The number of bytes; -1: there is no such file.
ssize_t read_proc(uint64_t pid, const char* name, std::span<char> to) noexcept {
  char path[64];
  if (pid == kSystem)
    std::snprintf(path, sizeof path, "/proc/%s", name);
  else
    std::snprintf(path, sizeof path, "/proc/%llu/%s", static_cast<unsigned long long>(pid), name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t size = read(file, to.data(), to.size() - 1);
  close(file);
  to[static_cast<size_t>(std::max<ssize_t>(size, 0))] = '\0';
  return size;
}

// A field of /proc/PID/stat, counted from the state, which follows the name. The name may contain blanks and parentheses.
int64_t stat_field(uint64_t pid, int field) noexcept {
  char text[1024];
  if (read_proc(pid, "stat", text) <= 0) return kNone;
  const char* at = std::strrchr(text, ')');
  for (int skipped = -1; at != nullptr && skipped < field; skipped++) at = std::strchr(at + 1, ' ');
  return at == nullptr ? kNone : std::strtoll(at, nullptr, 10);
}

int64_t tick() noexcept {
  constexpr int64_t kSecond = 1'000'000'000;
  return kSecond / sysconf(_SC_CLK_TCK);
}

// Nanoseconds that the machine has been suspended, to the tick. Two clocks cannot be read at once, so the last answer stays until
// it is wrong by more than a tick: two reads of a start are equal.
int64_t suspended() noexcept {
  static std::atomic<int64_t> known{0};
  const auto before = static_cast<int64_t>(read_clock(CLOCK_MONOTONIC));
  const auto now = static_cast<int64_t>(read_clock(CLOCK_BOOTTIME));
  const auto after = static_cast<int64_t>(read_clock(CLOCK_MONOTONIC));
  const int64_t last = known.load(std::memory_order_relaxed), unit = tick();
  if (last >= now - after - unit && last <= now - before + unit) return last;
  const int64_t found = (now - before + unit / 2) / unit * unit;
  known.store(found, std::memory_order_relaxed);
  return found;
}

// stat counts ticks since the machine started.
int64_t started(uint64_t pid) noexcept {
  constexpr int kStarted = 19;
  const int64_t ticks = stat_field(pid, kStarted);
  return ticks < 0 ? kNone : ticks * tick() - suspended();
}

// Called after a read: if the process existed then, it has had its id since.
bool existed(uint64_t pid, uint64_t time) noexcept {
  if (time == 0 || pid == kSystem) return true;
  const int64_t start = started(pid);
  return start != kNone && start <= static_cast<int64_t>(time) + tick();
}

int64_t stack_bytes(uint64_t pid) noexcept {
  char text[4096];
  if (read_proc(pid, "status", text) <= 0) return kNone;
  const char* at = std::strstr(text, "\nVmStk:");
  return at == nullptr ? kNone : std::strtoll(at + 7, nullptr, 10) * 1024;
}

// The lines of a file, one after the other, each cut to the buffer.
class Lines {
 public:
  Lines(uint64_t pid, const char* name) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%llu/%s", static_cast<unsigned long long>(pid), name);
    file_ = open(path, O_RDONLY | O_CLOEXEC);
  }
  ~Lines() {
    if (file_ >= 0) close(file_);
  }
  Lines(const Lines&) = delete;
  // Null at the end.
  const char* next() noexcept {
    char* end = find_end();
    while (end == nullptr && refill()) end = find_end();
    if (end == nullptr) return nullptr;
    *end = '\0';
    const char* line = at_;
    at_ = end + 1;
    return line;
  }

 private:
  char* find_end() noexcept { return static_cast<char*>(std::memchr(at_, '\n', static_cast<size_t>(filled_ - at_))); }
  bool refill() noexcept {
    const auto left = static_cast<size_t>(filled_ - at_);
    if (file_ < 0 || left == sizeof text_) return false;
    std::memmove(text_, at_, left);
    const ssize_t size = read(file_, text_ + left, sizeof text_ - left);
    at_ = text_, filled_ = text_ + left + std::max<ssize_t>(size, 0);
    return size > 0;
  }

  int file_ = -1;
  char text_[8192];
  char *at_ = text_, *filled_ = text_;
};

// The bytes of a line of maps that is part of the heap. A file may have a name that ends in [heap], but it has an inode.
int64_t heap_in(const char* line) noexcept {
  unsigned long long begin = 0, end = 0, inode = 0;
  int name = 0;
  const int found = std::sscanf(line, "%llx-%llx %*s %*s %*s %llu %n", &begin, &end, &inode, &name);
  return found == 3 && inode == 0 && std::strcmp(line + name, "[heap]") == 0 ? static_cast<int64_t>(end - begin) : 0;
}

int64_t heap_bytes(uint64_t pid) noexcept {
  Lines maps(pid, "maps");
  int64_t bytes = kNone;  // a process that has ended, and a thread of the kernel, have no mappings
  while (const char* line = maps.next()) bytes = std::max<int64_t>(bytes, 0) + heap_in(line);
  return bytes;
}

int64_t number_of_process(uint64_t pid, uint64_t number) noexcept {
  constexpr int kParent = 1, kUserTicks = 11, kSystemTicks = 12;
  switch (number) {
    case 0:
      return stat_field(pid, kParent);
    case 1:
      return stat_field(pid, kUserTicks);
    case 2:
      return stat_field(pid, kSystemTicks);
    case 3:
      return started(pid);
    case 4:
      return heap_bytes(pid);
    case 5:
      return stack_bytes(pid);
    default:
      return kNone;
  }
}

int64_t last_pid() noexcept {
  char text[128];
  if (read_proc(kSystem, "loadavg", text) <= 0) return kNone;
  const char* at = std::strrchr(text, ' ');
  return at == nullptr ? kNone : std::strtoll(at, nullptr, 10);
}

int64_t number_of_system(uint64_t number) noexcept {
  static_assert(SI_LOAD_SHIFT == 16);
  struct sysinfo system {};
  if (sysinfo(&system) != 0) return kNone;
  const int64_t page = sysconf(_SC_PAGESIZE);
  const auto pages = [&](uint64_t units) { return static_cast<int64_t>(units) * system.mem_unit / page; };
  switch (number) {
    case 0:
      return last_pid();
    case 1:
    case 2:
    case 3:
      return static_cast<int64_t>(system.loads[number - 1]);
    case 4:
      return sysconf(_SC_NPROCESSORS_ONLN);
    case 5:
      return page;
    case 6:
      return pages(system.totalram);
    case 7:
      return pages(system.freeram);
    default:
      return kNone;
  }
}

std::string_view text_of_system(uint64_t number, std::span<char> room) noexcept {
  utsname names{};
  if (uname(&names) != 0) return {};
  const char* const texts[] = {names.sysname, names.nodename, names.release, names.version, names.machine};
  if (number >= std::size(texts)) return {};
  const size_t size = std::min(std::strlen(texts[number]), room.size());
  std::memcpy(room.data(), texts[number], size);
  return {room.data(), size};
}

}  // namespace

bool is_of_process(uint64_t index) noexcept { return index / kPerProcess != kSystem; }

int64_t proc_number(uint64_t index, uint64_t time) noexcept {
  const uint64_t pid = index / kPerProcess, number = index % kPerProcess;
  if (pid == 0) return kNone;
  const int64_t found = pid == kSystem ? number_of_system(number) : number_of_process(pid, number);
  return existed(pid, time) ? found : kNone;
}

std::string_view ProcTexts::find(uint64_t index, uint64_t time) noexcept {
  const std::string_view text = read(index);
  return existed(index / kPerProcess, time) ? text : std::string_view();
}

std::string_view ProcTexts::read(uint64_t index) noexcept {
  const uint64_t pid = index / kPerProcess, number = index % kPerProcess;
  if (pid == kSystem) return text_of_system(number, text_);
  if (number > 1) return {};
  const ssize_t size = read_proc(pid, number == 0 ? "comm" : "cmdline", text_);
  if (size < 0) return {};
  if (size == 0 && number == 1) return read(pid * kPerProcess);  // a thread of the kernel
  std::string_view text(text_.data(), static_cast<size_t>(size));
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.remove_suffix(1);
  if (number == 1) std::replace(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(text.size()), '\0', ' ');
  return text;
}

}  // namespace dvm::runtime
