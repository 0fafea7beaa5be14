// Records of stopped threads. Covered by
// tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/instrument/breakpoint/stopped_thread.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/process/target_memory.h"

namespace dvm::runtime {
namespace {

constexpr int64_t kMostError = 4095;  // of a system call

static_assert(sizeof(user_regs_struct) >= kSavedWords * sizeof(uint64_t));

size_t read_memory(pid_t pid, uint64_t address, void* to, size_t bytes) noexcept {
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(address), bytes};
  const ssize_t size = process_vm_readv(pid, &local, 1, &remote, 1, 0);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

// A file of /proc/PID/task/TID, as much of it as there is room for.
std::string_view read_file(const StoppedThread& thread, const char* name, std::span<char> room) noexcept {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/%s", thread.pid, thread.tid, name);
  const FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t size = file ? read(file.get(), room.data(), room.size()) : 0;
  return {room.data(), size > 0 ? static_cast<size_t>(size) : 0};
}

uint64_t first_number(std::string_view text) noexcept {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "123 (name) S 1 ...": the 39th word is the CPU.
struct Stat {
  std::string_view name;
  uint64_t cpu = 0;

  explicit Stat(std::string_view text) noexcept {
    const size_t begin = text.find('('), end = text.rfind(')');
    if (end == std::string_view::npos || begin > end) return;
    name = text.substr(begin + 1, end - begin - 1);
    size_t at = end;
    for (int word = 2; word < 39 && at != std::string_view::npos; word++) at = text.find(' ', at + 1);
    if (at != std::string_view::npos) cpu = first_number(text.substr(at + 1));
  }
};

uint64_t widen(uint64_t value, const Operand& operand) noexcept {
  const unsigned spare = 64 - 8 * operand.size;
  value <<= spare;
  return operand.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> spare) : value >> spare;
}

uint64_t outcome(Operand::Kind kind, const StoppedThread& thread) noexcept {
  const auto result = static_cast<int64_t>(thread.words[saved::rax]);
  const bool failed = result < 0 && result >= -kMostError;
  if (kind == Operand::Kind::error) return failed ? static_cast<uint64_t>(-result) : 0;
  return failed ? UINT64_MAX : static_cast<uint64_t>(result);
}

uint64_t read_vector(unsigned number, pid_t tid) noexcept {
  user_fpregs_struct registers;
  if (ptrace(PTRACE_GETFPREGS, tid, 0, &registers) != 0) return 0;
  uint64_t value = 0;
  std::memcpy(&value, &registers.xmm_space[4 * static_cast<size_t>(number % kVectorRegisters)], sizeof value);
  return value;
}

uint64_t value_of(const Operand& operand, const StoppedThread& thread) noexcept {
  const auto word = [&](uint8_t n) { return n < kSavedWords ? thread.words[n] : 0; };
  if (operand.kind == Operand::Kind::constant) return static_cast<uint64_t>(operand.value);
  if (operand.kind == Operand::Kind::result || operand.kind == Operand::Kind::error) return outcome(operand.kind, thread);
  if (operand.kind == Operand::Kind::saved) return widen(word(operand.base) >> operand.shift, operand);
  if (operand.kind == Operand::Kind::vector) return widen(read_vector(operand.base, thread.tid), operand);
  if (operand.kind != Operand::Kind::memory) return 0;
  uint64_t value = 0;
  const uint64_t address = word(operand.base) + word(operand.index) * operand.scale + static_cast<uint64_t>(operand.value);
  return read_memory(thread.pid, address, &value, operand.size) == operand.size ? widen(value, operand) : 0;
}

class FiringWriter {
 public:
  FiringWriter(const RecordLayout& layout, const StoppedThread& thread, std::span<uint64_t> room) noexcept
      : layout_(layout), thread_(thread), room_(room) {
    std::fill(room_.begin(), room_.end(), 0);
  }

  void head(uint64_t cookie) noexcept {
    std::array<char, 512> text;
    const Stat stat(layout_.cpu || layout_.comm ? read_file(thread_, "stat", text) : std::string_view());
    put(0, cookie | stat.cpu << 48);
    if (layout_.comm) std::memcpy(at(layout_.comm), stat.name.data(), std::min<size_t>(stat.name.size(), kCommBytes - 1));
  }

  void times() noexcept {
    std::array<char, 64> text;
    if (layout_.time) put(layout_.time, thread_.time);
    if (layout_.vtime) put(layout_.vtime, first_number(read_file(thread_, "schedstat", text)));
    if (layout_.owner || layout_.parent) ids();
    if (layout_.thread) put(layout_.thread, static_cast<uint64_t>(thread_.pid) << 32 | static_cast<uint32_t>(thread_.tid));
  }

  void ids() noexcept {
    ProcessIds ids;
    read_process_ids(thread_.tid, ids);  // threads may have users of their own
    if (layout_.owner) put(layout_.owner, static_cast<uint64_t>(ids.uid)), put(layout_.owner + 8, static_cast<uint64_t>(ids.gid));
    if (layout_.parent) put(layout_.parent, static_cast<uint64_t>(int64_t{ids.ppid}));
  }

  void registers() noexcept {
    for (size_t n = 0; n < layout_.args.size(); n++)
      if (layout_.args[n]) put(layout_.args[n], value_of(layout_.shape.args[n], thread_));
    if (layout_.error) put(layout_.error, value_of(layout_.shape.error, thread_));
    uint32_t to = layout_.registers;
    for (unsigned n = 0; n < kSavedWords; n++)
      if (layout_.saved >> n & 1) put(to, thread_.words[n]), to += 8;
  }

  void stack(uint64_t function) noexcept {
    if (!layout_.stack) return;
    const uint64_t begin = thread_.stack() & ~uint64_t{kStackPiece - 1};
    put(layout_.stack, read_memory(thread_.pid, begin, at(layout_.stack_at), layout_.stack_bytes));
    put(layout_.stack + 8, function);
  }

 private:
  void put(uint32_t offset, uint64_t value) noexcept { room_[offset / 8] = value; }
  std::byte* at(uint32_t offset) noexcept { return std::as_writable_bytes(room_).data() + offset; }

  const RecordLayout& layout_;
  const StoppedThread& thread_;
  std::span<uint64_t> room_;
};

}  // namespace

// The kernel has set the resume flag for the debug exception; no program sets it.
bool read_registers(StoppedThread& thread) noexcept {
  constexpr unsigned long long kResumes = 1 << 16;
  user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, thread.tid, 0, &registers) != 0) return false;
  registers.eflags &= ~kResumes;
  std::memcpy(thread.words.data(), &registers, sizeof thread.words);
  return true;
}

std::span<const std::byte> write_record(const RecordLayout& layout, uint64_t cookie, const StoppedThread& thread,
                                        uint64_t function, std::span<uint64_t> room) noexcept {
  room = room.first(layout.size / 8);
  FiringWriter writer(layout, thread, room);
  writer.head(cookie);
  writer.times();
  writer.registers();
  writer.stack(function);
  return std::as_bytes(room);
}

uint64_t read_word(pid_t pid, uint64_t address) noexcept {
  uint64_t word = 0;
  return read_memory(pid, address, &word, sizeof word) == sizeof word ? word : 0;
}

}  // namespace dvm::runtime
