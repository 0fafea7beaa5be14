// Late reads by process_vm_readv, or by /proc/PID/mem where that is refused. Covered by
// tests/unit/instrument/target_memory_test.cpp.

#include "runtime/process/target_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/clock.h"
#include "common/file_bytes.h"
#include "common/file_descriptor.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kIdsLast = 100'000'000;  // ns

FileDescriptor open_file(int32_t pid, const char* name) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return FileDescriptor(open(path, O_RDONLY | O_CLOEXEC));
}

bool read_mem_file(int32_t pid, uint64_t address, void* to, size_t size) noexcept {
  if (address > INT64_MAX) return false;
  const FileDescriptor mem = open_file(pid, "mem");
  return mem && read_at(mem.get(), address, {static_cast<std::byte*>(to), size});
}

bool copy_in(int32_t pid, uint64_t address, void* to, size_t size) noexcept {
  if (size == 0) return true;
  if (pid <= 0 || address + size < address) return false;
  iovec local{to, size};
  iovec remote{reinterpret_cast<void*>(address), size};
  if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size)) return true;
  return (errno == EPERM || errno == ENOSYS) && read_mem_file(pid, address, to, size);
}

// The first number of the line "FIELD:\tN..." in the text of a status file, or one further on; -1: no such line.
int64_t status_number(const char* text, const char* field, int further) noexcept {
  const char* at = std::strstr(text, field);
  if (at == nullptr) return -1;
  at += std::strlen(field);
  char* end = nullptr;
  for (; further > 0; further--, at = end) std::strtoll(at, &end, 10);
  return std::strtoll(at, nullptr, 10);
}

}  // namespace

// A NUL ends each word.
size_t read_command_line(int32_t pid, std::span<char> to) noexcept {
  const FileDescriptor file = open_file(pid, "cmdline");
  const ssize_t size = !file ? -1 : ::read(file.get(), to.data(), to.size());
  if (size <= 0) return 0;
  std::span<char> line = to.first(static_cast<size_t>(size));
  while (!line.empty() && line.back() == '\0') line = line.first(line.size() - 1);
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line.size();
}

namespace {

// Reads the target of the link /proc/PID/NAME.
size_t read_link(int32_t pid, const char* name, std::span<char> to) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  const ssize_t size = readlink(path, to.data(), to.size());
  return size <= 0 ? 0 : static_cast<size_t>(size);
}

size_t read_text(int32_t pid, ProcessText which, std::span<char> to) noexcept {
  switch (which) {
    case ProcessText::command_line:
      return read_command_line(pid, to);
    case ProcessText::working_directory:
      return read_link(pid, "cwd", to);
    case ProcessText::root_directory:
      return read_link(pid, "root", to);
  }
  return 0;
}

}  // namespace

bool read_process_ids(int32_t pid, ProcessIds& ids) noexcept {
  const FileDescriptor status = open_file(pid, "status");
  if (!status) return false;
  char text[2048];
  ssize_t size = ::read(status.get(), text, sizeof text - 1);
  if (size <= 0) return false;
  text[size] = '\0';
#define DVM_PROCESS_ID(name, type, field, further) ids.name = static_cast<type>(status_number(text, "\n" field ":\t", further));
#include "runtime/process/process_ids.def"
  return true;
}

bool TargetMemory::read(int32_t pid, uint64_t address, std::span<std::byte> to) noexcept {
  return !is_recorded_ && copy_in(pid, address, to.data(), to.size());
}

// Pages that the process may not write are left alone, so /proc/PID/mem cannot be used here: it would write to them too. A
// script may not write to dvm's own memory, where BEGIN fires.
bool TargetMemory::write(int32_t pid, uint64_t address, std::span<const std::byte> from) noexcept {
  if (is_recorded_ || pid <= 0 || pid == getpid()) return false;
  iovec local{const_cast<std::byte*>(from.data()), from.size()};
  iovec remote{reinterpret_cast<void*>(address), from.size()};
  return process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(from.size());
}

std::ptrdiff_t TargetMemory::read_string(int32_t pid, uint64_t address, std::span<char> to) noexcept {
  if (is_recorded_) return -1;
  size_t done = 0;
  while (done < to.size()) {
    uint64_t at = address + done;
    size_t piece = std::min<size_t>(to.size() - done, kPage - at % kPage);
    if (!copy_in(pid, at, to.data() + done, piece)) return -1;
    if (const void* nul = std::memchr(to.data() + done, 0, piece)) return static_cast<const char*>(nul) - to.data();
    done += piece;
  }
  return static_cast<std::ptrdiff_t>(done);
}

ProcessIds TargetMemory::live_ids(int32_t pid) noexcept {
  KeptIds& entry = entries_[static_cast<uint32_t>(pid) % entries_.size()];
  if (entry.pid != pid) entry = KeptIds{.pid = pid, .read_at = 0, .ids = {}};
  uint64_t now = read_clock(CLOCK_MONOTONIC_COARSE);
  if (entry.read_at == 0 || now - entry.read_at > kIdsLast) {
    read_process_ids(pid, entry.ids);
    entry.read_at = now;
  }
  return entry.ids;
}

const RecordedProcess* TargetMemory::recorded(int32_t pid) const noexcept {
  auto found = std::lower_bound(recorded_.begin(), recorded_.end(), pid,
                                [](const RecordedProcess& process, int32_t wanted) { return process.pid < wanted; });
  return found != recorded_.end() && found->pid == pid ? &*found : nullptr;
}

ProcessIds TargetMemory::ids(int32_t pid) noexcept {
  if (!is_recorded_) return pid > 0 ? live_ids(pid) : ProcessIds{};
  const RecordedProcess* process = recorded(pid);
  return process == nullptr ? ProcessIds{} : process->ids;
}

std::string_view TargetMemory::recorded_text(int32_t pid, ProcessText which) const noexcept {
  const RecordedProcess* process = recorded(pid);
  return process == nullptr || which != ProcessText::command_line ? std::string_view() : process->command_line;
}

std::string_view TargetMemory::text(int32_t pid, ProcessText which) noexcept {
  if (is_recorded_) return recorded_text(pid, which);
  if (pid <= 0) return {};
  auto& texts = texts_[static_cast<size_t>(which)];
  KeptText& entry = texts[static_cast<uint32_t>(pid) % texts.size()];
  if (entry.pid != pid) entry.pid = pid, entry.read_at = 0, entry.size = 0;
  const uint64_t now = read_clock(CLOCK_MONOTONIC_COARSE);
  if (entry.read_at == 0 || now - entry.read_at > kIdsLast) {
    if (const size_t size = read_text(pid, which, entry.text)) entry.size = size;
    entry.read_at = now;
  }
  return {entry.text.data(), entry.size};
}

void TargetMemory::use_recorded(std::vector<RecordedProcess> processes) {
  recorded_ = std::move(processes);
  std::sort(recorded_.begin(), recorded_.end(), [](const RecordedProcess& a, const RecordedProcess& b) { return a.pid < b.pid; });
  is_recorded_ = true;
}

}  // namespace dvm::runtime
